"""Tables as people have them: text, Excel and Parquet files, compressed or not, as data frames of raw columns."""
