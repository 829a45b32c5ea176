# SPDX-License-Identifier: MIT
"""The forty files of --demo: small documents, pictures and tables that programs can open, the same at each start."""

import binascii
import struct
import zlib
from typing import NamedTuple

GRAINS = ("Wheat", "Barley", "Rye", "Oats", "Maize")
PLACES = ("Ashford", "Brigg", "Corby", "Diss", "Ely")
MONTHS = ("January", "February", "March", "April", "May", "June")
CONTRACTS, TICKETS, DELIVERIES, PICTURES, LOADS, SAMPLES, NOTES = 4, 5, 4, 10, 6, 6, 5
COLOURS = ((0x1d, 0x4f, 0x7c), (0xb4, 0x53, 0x09), (0x2f, 0x6f, 0x3e), (0x7a, 0x2e, 0x5d), (0x4b, 0x55, 0x63))
WIDTH, HEIGHT = 320, 200


class File(NamedTuple):
    """A file to upload."""
    name: str
    content_type: str
    bucket: str
    type: str
    tags: tuple
    data: bytes


def all_files():
    """Forty of them, the kinds mixed as they come in a working week."""
    found = [*contracts(), *tickets(), *deliveries(), *pictures(), *loads(), *samples(), *notes()]
    return found[::3] + found[1::3] + found[2::3]


def contracts():
    """Supply contracts, as PDF."""
    for number in range(CONTRACTS):
        lines = [f"Contract {2026000 + number}", "", f"Supplier: {PLACES[number]} Farm", f"Goods: {GRAINS[number]}",
                 f"Quantity: {120 + 40 * number} tonnes", "Delivery: free at the silo, by the end of the quarter.",
                 "Payment: 30 days after the last delivery."]
        yield File(f"contract-{2026000 + number}.pdf", "application/pdf", "files", "contract",
                   ("2026", GRAINS[number].lower()), pdf(lines))


def tickets():
    """Weighbridge tickets, as PDF."""
    for number in range(TICKETS):
        gross, tare = 38400 + 310 * number, 14200 + 25 * number
        lines = [f"Weighbridge ticket {4711 + number}", "", f"Vehicle: EX26 GR{number}", f"Goods: {GRAINS[number]}",
                 f"Gross: {gross} kg", f"Tare: {tare} kg", f"Net: {gross - tare} kg"]
        yield File(f"weighbridge-{4711 + number}.pdf", "application/pdf", "files", "weighbridge",
                   ("weighbridge", PLACES[number].lower()), pdf(lines))


def deliveries():
    """Delivery notes, as PDF."""
    for number in range(DELIVERIES):
        lines = [f"Delivery note {880 + number}", "", f"To: Mill at {PLACES[number]}", f"Goods: {GRAINS[number]}",
                 f"{24 + number} tonnes, loose", "Received in good order."]
        yield File(f"delivery-{880 + number}.pdf", "application/pdf", "files", "logistics-delivery",
                   ("delivery", ), pdf(lines))


def pictures():
    """Charts of stocks by month, as PNG."""
    for number in range(PICTURES):
        place, grain = PLACES[number % len(PLACES)], GRAINS[(number + number // len(PLACES)) % len(GRAINS)]
        heights = [40 + (37 * (number + 2) * (month + 3) + 11 * number) % 140 for month in range(len(MONTHS))]
        yield File(f"stock-{place.lower()}-{grain.lower()}.png", "image/png", "images", "image",
                   ("chart", place.lower()), chart(heights, COLOURS[number % len(COLOURS)]))


def loads():
    """Loads by month, as CSV."""
    for number, month in zip(range(LOADS), MONTHS):
        rows = [f"{day:02d},{GRAINS[(day + number) % len(GRAINS)]},{18 + (7 * day + number) % 9}.{day % 10}"
                for day in range(1, 29)]
        yield File(f"loads-{number + 1:02d}-{month.lower()}.csv", "text/csv", "files", "logistics-load",
                   ("2026", month.lower()), table("day,goods,tonnes", rows))


def samples():
    """What the laboratory measured, as CSV."""
    for number in range(SAMPLES):
        rows = [f"{place},{12 + (number + at) % 4}.{(3 * number + at) % 10},{70 + (3 * number + at) % 12}"
                for at, place in enumerate(PLACES)]
        yield File(f"samples-week-{number + 14}.csv", "text/csv", "files", "sample", ("laboratory", ),
                   table("silo,moisture %,hectolitre weight kg", rows))


def notes():
    """Notes, as plain text."""
    texts = ("The silo at Ashford is full until Thursday.\nSend new loads to Brigg.\n",
             "Meeting with the mill\n\n- prices until June\n- who weighs, and when\n",
             "The gate closes at 18:00 from Monday.\nDrivers call the office before 17:30.\n",
             "Moisture above 14.5 %: dry first, then store.\n",
             "Terms: we sell as seen. Samples are kept for six months.\n")
    for number, text in enumerate(texts[:NOTES]):
        last = number == NOTES - 1
        yield File("terms.txt" if last else f"note-{number + 1}.txt", "text/plain", "files",
                   "terms-conditions" if last else "misc", (), text.encode())


def table(head, rows):
    """A table with lines as RFC 4180 has them."""
    return "".join(f"{line}\r\n" for line in (head, *rows)).encode()


def pdf(lines):
    """A page of text; the first line is its heading."""
    shown = "".join(f"/F1 {20 if at == 0 else 12} Tf ({line}) Tj 0 -{36 if at == 0 else 20} Td\n"
                    for at, line in enumerate(lines))
    stream = f"BT 72 760 Td\n{shown}ET\n".encode("ascii")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%sendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    index = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return out + (b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
                  % (count, index, count, len(out)))


def chart(heights, colour):
    """Bars of these heights, on white."""
    step = WIDTH // len(heights)
    rows = b""
    for y in range(HEIGHT):
        row = b"".join(bytes(colour) if 8 <= x % step < step - 8 and HEIGHT - y <= heights[min(x // step,
                       len(heights) - 1)] else b"\xff\xff\xff" for x in range(WIDTH))
        rows += b"\0" + row
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def chunk(kind, data):
    """A part of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", binascii.crc32(kind + data))
