"""What people call the same thing: patterns that complaints share, searched without regard to case."""

from __future__ import annotations

from typing import Final

SLOW: Final = (
    r"slow|\bhang|stuck|hours|minutes|forever|never (?:finish|end|complete)|long time|performance|bottleneck"
    r"|horrendous|worse|speed(?:ing)? (?:it |this )?up|faster|optimi[sz]|improv|inefficient|expensive|crawl"
    r"|tun(?:e|ing)\b"
    r"|time[sd]? out|\d+ ?(?:h|hrs?|mins?)\b"
    r"|tak(?:es|ing|e|en) (?:a |too |very |so |way |far )*(?:long|ages|much time|lot of time)"
)
"""That something takes long, or is to take less."""

DATABASES: Final = (
    r"\bjdbc\b|memsql|singlestore|oracle|postgres|mysql|mariadb|sql ?server|mssql|clickhouse|teradata|\bdb2\b|redshift"
    r"|snowflake|azure sql|\brds\b|aurora|vertica|cassandra|mongo"
)
"""Stores that rows are read from and written to over connections."""

WRITES: Final = r"\bwrit|\bsav(?:e|ing)|\binsert|\bload(?:ing)? (?:in)?to|\bexport|\bupsert|\bpush|\bsink"
"""That something is written."""
