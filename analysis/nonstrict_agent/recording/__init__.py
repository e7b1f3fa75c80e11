"""Recording of real calls: hooks in the processes of a user's command, and the files that they append to.

Nothing here changes what the command does or prints; whatever goes wrong here is left out of the record.
"""

from __future__ import annotations
