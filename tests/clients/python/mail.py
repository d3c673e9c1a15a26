"""The folder into which the service writes its e-mails."""

import os
import pathlib
import re
import time


def code_for(address: str) -> str:
    """Waits for the newest e-mail to an address and returns its code of six digits."""
    folder = pathlib.Path(os.environ["MAIL"])
    for _ in range(200):
        for file in sorted(folder.glob("*.eml"), reverse=True):
            text = file.read_text(encoding="utf-8")
            code = re.search(r"^ {4}(\d{6})\s*$", text, re.MULTILINE)
            if f"To: {address}" in text and code:
                return code.group(1)
        time.sleep(0.1)
    raise SystemExit(f"no e-mail to {address} has a code")
