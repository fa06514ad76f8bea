#!/usr/bin/env python3
"""The published way to read a month, for comparison: one Python process with python-chess and zstandard.

    pip install chess zstandard
    python3 benches/python_chess.py FILE [--style lines|visitor] [--games N] [--lines OUT] [--json]

It reads PGN (plain or zstd), applies the published filters to the headers, replays what is left on a board,
encodes the moves with a dictionary of UCI strings, and prints games per second, the account by reason, and the
SHA-256 of the kept games as UCI lines. `philidor export games` gives the same lines.

Two styles, both as a careful user of Python would write them; neither tokenises the movetext of a game that
its headers reject:

lines    (used where nothing is said) headers are read line by line and movetext is cleaned by a regular
         expression; python-chess only replays (`Board.parse_san`, `Board.push`). The faster one, and right for
         files of the archive only.
visitor  python-chess reads everything: a visitor of `chess.pgn.read_game` keeps five headers, answers SKIP at
         their end where the filters reject the game, builds no tree of nodes, and skips variations.

Length is counted before anything is replayed in `lines`, and after in `visitor`, where a game with a move that
cannot be played is `invalid_san` whatever its length; files of the archive have none.
"""

import argparse
import hashlib
import io
import json
import logging
import re
import sys
import time

import chess
import chess.pgn
import zstandard

REASONS = ["speed", "elo_missing", "elo_range", "termination", "start_position", "too_short", "too_long", "invalid_san"]
EXCLUDED_SPEEDS = ("UltraBullet", "Bullet")
ELO_LOW, ELO_HIGH = 1800, 2600
TERMINATIONS = ("Normal",)
PLIES_LOW, PLIES_HIGH = 20, 300
BOS, EOS, SPECIAL_TOKENS = 1, 2, 3
WANTED_HEADERS = {"Event", "WhiteElo", "BlackElo", "Termination", "FEN"}


def vocabulary():
    """The 1,968 moves of a queen, a knight or a promoting pawn from every square, sorted as strings."""
    moves = set()
    for start in chess.SQUARES:
        for piece in (chess.QUEEN, chess.KNIGHT):
            board = chess.BaseBoard(None)
            board.set_piece_at(start, chess.Piece(piece, chess.WHITE))
            moves.update(chess.Move(start, end).uci() for end in board.attacks(start))
        rank, file = chess.square_rank(start), chess.square_file(start)
        last = {6: 7, 1: 0}.get(rank)
        if last is not None:
            for end_file in range(max(file - 1, 0), min(file + 1, 7) + 1):
                end = chess.square(end_file, last)
                moves.update(chess.Move(start, end, promotion).uci() for promotion in range(chess.KNIGHT, chess.QUEEN + 1))
    assert len(moves) == 1968
    return {uci: token for token, uci in enumerate(sorted(moves), start=SPECIAL_TOKENS)}


def rejected_by_headers(headers):
    """The reason for which a game's headers reject it, or None."""
    event = headers.get("Event", "")
    if any(speed in event for speed in EXCLUDED_SPEEDS):
        return "speed"
    white, black = headers.get("WhiteElo", ""), headers.get("BlackElo", "")
    if not (white.isdigit() and black.isdigit()):
        return "elo_missing"
    if not (ELO_LOW <= int(white) <= ELO_HIGH and ELO_LOW <= int(black) <= ELO_HIGH):
        return "elo_range"
    if headers.get("Termination", "") not in TERMINATIONS:
        return "termination"
    return "start_position" if "FEN" in headers else None


def rejected_by_length(plies):
    if plies < PLIES_LOW:
        return "too_short"
    return "too_long" if plies > PLIES_HIGH else None


class MainLine(chess.pgn.BaseVisitor):
    """The moves of a game's main line, or the reason that rejects it."""

    def begin_game(self):
        self.headers = {}
        self.moves = []
        self.reason = None

    def visit_header(self, name, value):
        if name in WANTED_HEADERS:
            self.headers[name] = value

    def end_headers(self):
        self.reason = rejected_by_headers(self.headers)
        return chess.pgn.SKIP if self.reason else None

    def begin_variation(self):
        return chess.pgn.SKIP

    def visit_move(self, board, move):
        self.moves.append(move.uci())

    def handle_error(self, error):
        self.reason = "invalid_san"

    def result(self):
        return self.reason or rejected_by_length(len(self.moves)), self.moves


def read_by_visitor(text):
    """Yields (reason or None, UCI moves) of each game."""
    while (game := chess.pgn.read_game(text, Visitor=MainLine)) is not None:
        yield game


HEADER = re.compile(r'\[(\w+)\s+"(.*)"\]')
NO_MOVES = re.compile(r"\{[^}]*\}|\d+\.+|[!?]+|\$\d+|1-0|0-1|1/2-1/2|\*")


def read_by_lines(text):
    """Yields (reason or None, UCI moves) of each game; one line of movetext a game, as in the archive."""
    headers = {}
    for line in text:
        if line.startswith("["):
            match = HEADER.match(line)
            if match and match[1] in WANTED_HEADERS:
                headers[match[1]] = match[2]
        elif not line.isspace():
            yield replay(headers, line)
            headers = {}


def replay(headers, movetext):
    if reason := rejected_by_headers(headers):
        return reason, []
    sans = NO_MOVES.sub(" ", movetext).split()
    if reason := rejected_by_length(len(sans)):
        return reason, []
    board, moves = chess.Board(), []
    try:
        for san in sans:
            move = board.parse_san(san)
            moves.append(move.uci())
            board.push(move)
    except ValueError:
        return "invalid_san", []
    return None, moves


def opened(path):
    """The file as text. Latin-1 maps every byte to a character: nothing fails, and nothing is looked up."""
    file = open(path, "rb")
    head = file.peek(4)[:4]
    if head == b"\x28\xb5\x2f\xfd" or (head[1:] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        file = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), 1 << 20)
    return io.TextIOWrapper(file, encoding="latin-1", newline="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--style", choices=["lines", "visitor"], default="lines")
    parser.add_argument("--games", type=int, help="stop after so many games read")
    parser.add_argument("--lines", metavar="OUT", help="write the kept games, one a line in UCI")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

    stoi = vocabulary()
    counts = dict.fromkeys(REASONS, 0)
    read = kept = plies = 0
    tokens, digest = [], hashlib.sha256()
    lines = open(args.lines, "w") if args.lines else None
    games = {"visitor": read_by_visitor, "lines": read_by_lines}[args.style]
    begun = time.perf_counter()
    for reason, moves in games(opened(args.file)):
        read += 1
        if reason:
            counts[reason] += 1
        else:
            kept += 1
            plies += len(moves)
            tokens.append(BOS)
            tokens.extend(stoi[uci] for uci in moves)
            tokens.append(EOS)
            line = " ".join(moves) + "\n"
            digest.update(line.encode())
            if lines:
                lines.write(line)
        if read == args.games:
            break
    seconds = time.perf_counter() - begun

    told = {
        "schema": 1,
        "style": args.style,
        "python": sys.version.split()[0],
        "python_chess": chess.__version__,
        "games": read,
        "kept": kept,
        "plies": plies,
        "tokens": len(tokens),
        "rejected": counts,
        "sha256": digest.hexdigest(),
        "seconds": round(seconds, 3),
        "games_per_second": round(read / seconds, 1),
    }
    if args.json:
        print(json.dumps(told, indent=2))
        return
    reasons = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    print(f"python {told['python']}, python-chess {told['python_chess']}, style {args.style}, one process")
    print(f"{read:,} games read, {kept:,} kept, {plies:,} plies kept")
    print(f"rejected: {reasons}")
    print(f"sha256 of the kept games as UCI lines: {told['sha256']}")
    print(f"{seconds:.2f} s, {read / seconds:,.0f} games/s")


if __name__ == "__main__":
    main()
