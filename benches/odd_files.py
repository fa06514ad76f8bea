#!/usr/bin/env python3
"""What python-chess reads of a folder of PGN files, to put beside what `philidor` reads of them.

    pip install chess
    python3 benches/odd_files.py FOLDER [--csv]

One row a file: games; games whose mainline broke off at an error (a move that cannot be played, a position
that cannot be set up) and the first of those errors; games that begin from a set-up position or with the rules
of a variant; games without moves; plies of the mainlines, as far as they were read. Text is read as UTF-8,
and as Latin-1 where it is none.
"""

import argparse
import csv
import io
import logging
import sys
from pathlib import Path

import chess
import chess.pgn

COLUMNS = ["file", "encoding", "games", "errors", "set_up", "variant", "no_moves", "plies", "first_error"]


def text_of(path):
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def account(path):
    text, encoding = text_of(path)
    row = dict.fromkeys(COLUMNS, 0) | {"file": path.name, "encoding": encoding, "first_error": ""}
    # Lines may end in any way; python-chess is given what a text file opened by Python gives.
    handle = io.StringIO(text, newline=None)
    while (game := chess.pgn.read_game(handle)) is not None:
        plies = sum(1 for _ in game.mainline_moves())
        row["games"] += 1
        row["errors"] += bool(game.errors)
        row["set_up"] += "FEN" in game.headers
        row["variant"] += game.headers.get("Variant", "Standard") not in ("Standard", "From Position")
        row["no_moves"] += plies == 0
        row["plies"] += plies
        if game.errors and not row["first_error"]:
            row["first_error"] = f"{type(game.errors[0]).__name__}: {game.errors[0]}"[:70]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--csv", action="store_true", help="print CSV, not Markdown")
    args = parser.parse_args()
    logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

    paths = sorted(path for path in args.folder.iterdir() if path.suffix == ".pgn")
    rows = [account(path) for path in paths]
    counted = COLUMNS[2:8]
    rows.append(dict.fromkeys(COLUMNS, "") | {"file": f"all {len(rows)} files"} | {c: sum(row[c] for row in rows) for c in counted})
    if args.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
        return
    print(f"python-chess {chess.__version__}\n")
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "|".join(" ---: " if column in counted else " --- " for column in COLUMNS) + "|")
    for row in rows:
        print("| " + " | ".join(str(row[column]).replace("|", "\\|") for column in COLUMNS) + " |")


if __name__ == "__main__":
    main()
