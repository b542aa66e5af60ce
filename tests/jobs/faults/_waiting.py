"""Work that takes its time however fast the machine is: an executor that waits, as for the answer of a service."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def waited(milliseconds: int) -> Column:
    """True, after so many milliseconds for each row."""
    return F.expr(f"coalesce(java_method('java.lang.Thread', 'sleep', {milliseconds}L), 'null') = 'null'")
