#!/usr/bin/env python3
"""Talks with a language model that Hexad compiled: text in, text out. Splits text
into tokens, hands them to the program `chat`, and prints its answers while they
are made. The end of input (Ctrl-D) ends the conversation."""

import argparse
import subprocess
import sys

from tokenizers import Tokenizer

# How instructed models mark turns; others get the text as it is.
BEGIN, END = "<|im_start|>", "<|im_end|>"


class Chat:
    def __init__(self, program, tokenizer, options):
        self.tokenizer = tokenizer
        self.end = tokenizer.token_to_id(END)
        self.turns = 0
        if self.end is not None:
            options = options + ["--stop", str(self.end)]
        self.process = subprocess.Popen(
            [program] + options, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def mark(self, text):
        """A turn as the model has seen turns. The end of its own turn is there already."""
        if self.end is None:
            return text
        between = "\n" if self.turns else ""
        return f"{between}{BEGIN}user\n{text}{END}\n{BEGIN}assistant\n"

    def answer(self, text):
        """Pieces of the answer as they are made."""
        encoded = self.tokenizer.encode(self.mark(text), add_special_tokens=self.turns == 0)
        self.turns += 1
        print(*encoded.ids, file=self.process.stdin, flush=True)
        ids, shown = [], ""
        for line in self.process.stdout:
            if not line.strip():
                return
            ids.append(int(line))
            whole = self.tokenizer.decode(ids)
            # A character of several tokens is not there before the last one.
            if not whole.endswith("\N{REPLACEMENT CHARACTER}"):
                yield whole[len(shown):]
                shown = whole
        sys.exit("the program ended")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Other options are the program's, e.g. --temperature 0.7."
    )
    parser.add_argument("program", help="the built program, e.g. build-chat/chat")
    parser.add_argument("--tokenizer", required=True, help="the model's tokenizer.json")
    arguments, options = parser.parse_known_args()
    chat = Chat(arguments.program, Tokenizer.from_file(arguments.tokenizer), options)
    while True:
        try:
            text = input("> " if sys.stdin.isatty() else "")
        except EOFError:
            return
        if text:
            for piece in chat.answer(text):
                print(piece, end="", flush=True)
            print()


if __name__ == "__main__":
    main()
