"""What is put in the place of numbers and words: the ends of every type, and what programs print instead of a value."""

from __future__ import annotations

NUMBERS = (
    b"1e308", b"-1e308", b"1e-308", b"1e999", b"-0", b"nan", b"inf", b"-inf", b"18446744073709551616",
    b"9223372036854775808", b"-9223372036854775809", b"4294967295", b"2147483648", b"-1", b"0", b"9" * 30, b"9" * 400,
    b"7" * 10_000, b"0x" + b"f" * 60, b"1e", b"1.2.3", b"1,234,567", b"12_000", "٣٤٥".encode(), "²".encode(), b"",
)  # fmt: skip
"""The two before the empty one are digits to `str.isdigit`; to `int` only the first of them is a number."""

WORDS = (
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1b]0;x\x07", b"<script>", b'"', b"'", b"\\", b"{", b"}", b"[", b"]",
    b",}{",
    b"0x", b"N/A", b"[N/A]", b"\r\n", b"\n\n", b"\t", b"|", b"%", b" MiB", b"]]>", b"&lt;", b"cos\nsystem\n", b"R.",
    b"\x80\x04", b"\x93", b"e.", b"((((", b"null", b"[[[[[[[[", b'{"a":' * 8, b" " * 4000, "\u202e".encode(),
    b"\xed\xa0\x80",
    b"\\ud800", b"\\u0000", "\u2028".encode(), b"\x0b", b"\x1c", b"#", b"# ", b"GPU ", b"Infinity", b"true",
    b"0000-00-00T00:00:00", b"9999-12-31T23:59:59+00:00", b"0001-01-01 00:00:00", b"2024/02/30 12:00:00",
)  # fmt: skip

VALUES: tuple[object, ...] = (
    None, True, 0, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**400, 1e308, -0.0, 5e-324, "", "x" * 5000,
    "nan",
    "[N/A]", "\0", "\ud800", "\x1b[31m", "<b>x</b>", "\u202egpj.exe", [], {}, [[]], {"a": {}}, [1, "2", None], "12",
    "-5 W",
    "1" * 5000, "²",
)  # fmt: skip
"""Of JSON."""
