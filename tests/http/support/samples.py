# SPDX-License-Identifier: MIT
"""Files made by real programs. Each call gives other bytes, so that no two tests upload the same file by
chance."""

import csv
import gzip
import io
import itertools
import os
import random
import struct
import subprocess
import tempfile
import uuid
import zipfile

import docx
import openpyxl
from PIL import Image
from reportlab.pdfgen import canvas

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
COUNT = itertools.count(1)


def word():
    """A word that no other sample holds."""
    return f"{uuid.uuid4().hex}-{next(COUNT)}"


def picture(kind="PNG", size=(48, 32)):
    """An image saved by Pillow: PNG, JPEG, GIF, WEBP, TIFF or BMP."""
    image = Image.frombytes("RGB", size, os.urandom(size[0] * size[1] * 3))
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def heif(kind):
    """An image made by libheif's encoder: "avif" or "heic"."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in.png"), os.path.join(folder, f"out.{kind}")
        with open(source, "wb") as file:
            file.write(picture())
        subprocess.run(["heif-enc", *(["-A"] if kind == "avif" else []), source, "-o", target],
                       check=True,
                       stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(target, "rb") as file:
            return file.read()


def pdf():
    """A page of PDF by reportlab."""
    out = io.BytesIO()
    page = canvas.Canvas(out)
    page.drawString(72, 720, f"Weighbridge ticket {word()}")
    page.save()
    return out.getvalue()


def word_document():
    """A DOCX by python-docx."""
    out = io.BytesIO()
    document = docx.Document()
    document.add_paragraph(f"Contract {word()}")
    document.save(out)
    return out.getvalue()


def spreadsheet():
    """An XLSX by openpyxl."""
    out = io.BytesIO()
    book = openpyxl.Workbook()
    book.active["A1"] = word()
    book.save(out)
    return out.getvalue()


def table(rows=20):
    """CSV text by Python's csv module."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["ticket", "gross", "tare"])
    for number in range(rows):
        writer.writerow([f"T{number}-{word()}", number * 10, number])
    return out.getvalue().encode()


def archive():
    """A ZIP by Python's zipfile module."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("readme.txt", f"hello {word()}\n")
    return out.getvalue()


def compressed():
    """A gzip stream."""
    return gzip.compress(word().encode())


def text():
    """Plain English text."""
    return f"The weighbridge closes at six today.\nTicket {word()}\n".encode()


def html():
    """A page that would run a script."""
    return f"<!DOCTYPE html><html><body><script>alert('{word()}')</script></body></html>".encode()


def svg():
    """A vector image that would run a script."""
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
            f"<script>alert('{word()}')</script></svg>").encode()


def elf():
    """A real ELF program."""
    with open("/bin/true", "rb") as file:
        return file.read() + word().encode()


def windows_program():
    """A Windows program's head: DOS header, PE signature, COFF and optional header."""
    dos = b"MZ" + bytes(58) + struct.pack("<I", 0x80) + bytes(64)
    coff = struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 240, 0x22)
    optional = struct.pack("<H", 0x20B) + bytes(238)
    return dos + b"PE\0\0" + coff + optional + word().encode() + bytes(512)


def dos_program():
    """Nothing but the two letters that a DOS or Windows program starts with, and padding."""
    return b"MZ" + bytes(200) + word().encode()


def mach_program():
    """A 64-bit Mach-O program's head."""
    return struct.pack("<IIIIIIII", 0xFEEDFACF, 0x01000007, 3, 2, 16, 1024, 0x85,
                       0) + bytes(200) + word().encode()


def noise(size, seed=None):
    """Bytes that no program made; the same for the same seed. The first ones are fixed, because one in a
    hundred runs of random bytes begins like something that libmagic knows."""
    data = random.Random(seed).randbytes(size) if seed is not None else os.urandom(size)
    return (b"\x93noise\0" + data)[:size]
