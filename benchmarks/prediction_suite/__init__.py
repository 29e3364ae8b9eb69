"""Parts of the benchmark of prediction: simulation, methods, evaluator, results, figures and page."""
