"""The benchmark suite: ksparse beside its peers on the same data, judged by one evaluator."""
