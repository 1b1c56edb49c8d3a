"""Writes `restaurant-booking.jsonl` from the rows, the drawings and the recordings.

Run with `python datasets/samples/build.py`; the result is committed. The images are
drawn with few colours, so that they stay small.
"""

from __future__ import annotations

import base64
import io
import json
import wave
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).resolve().parent
FILE = FOLDER / "restaurant-booking.jsonl"
TEXTS = ("query", "response", "ground_truth", "context")
SIZE = (720, 480)
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def _font(size: int) -> Font:
    """Pillow's own font, so that the drawing is the same on every machine."""
    return ImageFont.load_default(size)


def floor_plan() -> Image.Image:
    image = Image.new("RGB", SIZE, "#f4efe6")
    draw = ImageDraw.Draw(image)
    draw.rectangle((20, 20, 700, 460), outline="#4a4238", width=6)
    draw.rectangle((480, 26, 694, 150), fill="#d9cfbe", outline="#4a4238", width=3)
    draw.text((587, 88), "KITCHEN", font=_font(24), fill="#4a4238", anchor="mm")
    draw.rectangle((26, 380, 250, 454), fill="#d9cfbe", outline="#4a4238", width=3)
    draw.text((138, 417), "BAR", font=_font(24), fill="#4a4238", anchor="mm")
    draw.rectangle((60, 60, 400, 130), fill="#ffffff", outline="#b4442c", width=6)
    draw.text((230, 95), "12  long table", font=_font(26), fill="#b4442c", anchor="mm")
    places = [(x, y) for y in (200, 290) for x in (90, 200, 310, 420)]
    places += [(560, 210), (640, 290), (420, 400)]
    for number, (x, y) in enumerate(places, start=1):
        draw.ellipse(
            (x - 34, y - 34, x + 34, y + 34), fill="#ffffff", outline="#4a4238"
        )
        draw.text((x, y), str(number), font=_font(22), fill="#4a4238", anchor="mm")
    draw.text(
        (690, 440),
        "Window side: tables 1-4",
        font=_font(18),
        fill="#4a4238",
        anchor="rm",
    )
    return image


def booking_slip() -> Image.Image:
    image = Image.new("RGB", SIZE, "#c9c2b5")
    draw = ImageDraw.Draw(image)
    draw.rectangle((150, 40, 570, 440), fill="#fffdf6", outline="#d8d0bd")
    draw.text((360, 90), "RESERVATION", font=_font(34), fill="#333333", anchor="mm")
    for y in (126, 350):
        for x in range(190, 530, 16):
            draw.line((x, y, x + 8, y), fill="#333333", width=2)
    lines = [
        ("Date", "Fri 27 Nov"),
        ("Time", "19:30"),
        ("Party", "4"),
        ("Phone", "...0142"),
    ]
    for row, (name, value) in enumerate(lines):
        y = 168 + 48 * row
        draw.text((195, y), name, font=_font(28), fill="#333333", anchor="lm")
        draw.text((320, y), value, font=_font(28), fill="#333333", anchor="lm")
    draw.text((360, 396), "Ref R-20417", font=_font(28), fill="#333333", anchor="mm")
    return image


def menu_board() -> Image.Image:
    image = Image.new("RGB", SIZE, "#6b4a2f")
    draw = ImageDraw.Draw(image)
    draw.rectangle((22, 22, 698, 458), fill="#22302b")
    draw.text(
        (360, 80), "Dinner 17:00 - 22:00", font=_font(42), fill="#f3efe2", anchor="mm"
    )
    draw.line((180, 116, 540, 116), fill="#e7b75f", width=3)
    dishes = [
        ("Roast squash risotto", "18"),
        ("Sea bass, fennel", "24"),
        ("Lamb shoulder for two", "46"),
        ("Mushroom ravioli", "19"),
    ]
    for row, (dish, price) in enumerate(dishes):
        y = 172 + 52 * row
        draw.text((90, y), dish, font=_font(28), fill="#f3efe2", anchor="lm")
        draw.text((630, y), price, font=_font(28), fill="#f3efe2", anchor="rm")
    note = "Groups of more than 8: please call"
    draw.text((360, 414), note, font=_font(24), fill="#e7b75f", anchor="mm")
    return image


DRAWINGS: dict[str, Callable[[], Image.Image]] = {
    "floor-plan": floor_plan,
    "booking-slip": booking_slip,
    "menu-board": menu_board,
}


def png(name: str) -> bytes:
    """The drawing as a PNG of 16 colours."""
    drawn = DRAWINGS[name]()
    buffer = io.BytesIO()
    drawn.quantize(16, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def data_uri(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def recording(name: str) -> bytes:
    """The bytes of a recording that `wave` can read."""
    path = FOLDER / "media" / name
    with wave.open(str(path)) as sound:
        assert sound.getnframes() > 0
    return path.read_bytes()


def as_line(row: dict[str, str]) -> str:
    """One row of the file; a column without a value is left out."""
    values = {name: row[name] for name in TEXTS}
    if "image" in row:
        values["image_url"] = data_uri("image/png", png(row["image"]))
        values["caption"] = row["caption"]
    if "audio" in row:
        values["audio_data"] = data_uri("audio/wav", recording(row["audio"]))
        values["expected"] = row["expected"]
    return json.dumps(values, ensure_ascii=False)


def main() -> None:
    rows = json.loads((FOLDER / "rows.json").read_text(encoding="utf-8"))
    FILE.write_text("\n".join(map(as_line, rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
