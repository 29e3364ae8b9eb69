"""``ksparse fit`` and ``ksparse predict`` of data that are read in blocks of rows: larger than memory, or on a cluster."""
