"""Functions in JAX that ksparse and skscope minimize: problems, methods and the table of the comparison."""
