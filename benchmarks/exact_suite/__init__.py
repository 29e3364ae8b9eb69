"""Branch and bound of ksparse beside OKRidge, l0bnb and El0ps: cases, the packages, and the tables."""
