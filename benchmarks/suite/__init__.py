"""Benchmark suite: ksparse and methods of other packages on the same data, scored by one evaluator."""
