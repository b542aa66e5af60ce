"""How long a spill keeps a task waiting for its disk: no event says so, hence an estimate by bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# 100 MB/s, what a plain cloud volume gives one task (our proposal).
DISK_BYTES_PER_MS: Final = 100_000


def disk_wait_ms(
    disk_spilled_bytes: NDArray[np.float64], bytes_per_ms: float = DISK_BYTES_PER_MS
) -> NDArray[np.float64]:
    """Milliseconds to write these bytes once and read them once."""
    return 2 * disk_spilled_bytes / bytes_per_ms
