"""``ksparse fit`` and ``ksparse predict`` of data in blocks of rows: larger than memory, or on a cluster."""
