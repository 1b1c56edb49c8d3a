FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    ASSAY_DATA_DIR=/data ASSAY_HOST=0.0.0.0

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt
COPY . .
RUN useradd --system --home /data assay && mkdir /data && chown assay /data
USER assay
VOLUME /data
EXPOSE 8000
# Everything in one container on SQLite; docker-compose.yml starts the parts apart.
CMD ["python", "manage.py", "up"]
