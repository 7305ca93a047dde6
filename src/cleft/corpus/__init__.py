"""`cleft corpus`: runs over large inputs that can be interrupted, resumed and spread.

`plan` cuts the inputs into shards, `shard` does the work of one inside a
worker, `driver` hands them out to an engine of `cleft.engines` and keeps count,
`parquet` has the table that rows are written to.
"""
