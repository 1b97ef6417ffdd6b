"""A scrape target that serves dcgm-exporter's format for a made-up machine. Run it with a port, hosts, GPUs a host."""

from __future__ import annotations

import http.server
import sys

METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": 75,
    "DCGM_FI_DEV_FB_USED": 40_000,
    "DCGM_FI_DEV_FB_FREE": 41_000,
    "DCGM_FI_DEV_POWER_USAGE": 350.5,
    "DCGM_FI_DEV_MEMORY_TEMP": 9223372036854775794,
}
"""Values are the same for all GPUs and times, but the power, which is 100 W more on odd GPUs."""


def page(hosts: int, gpus: int) -> str:
    """What /metrics says."""
    lines = []
    for name, value in METRICS.items():
        lines += [f"# HELP {name} As dcgm-exporter has it.", f"# TYPE {name} gauge"]
        for host in range(hosts):
            for gpu in range(gpus):
                labels = (
                    f'gpu="{gpu}",UUID="GPU-{host:04d}-{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node{host}"'
                )
                labels += f',hpc_job="job{host // 2}"'
                more = 100 if name.endswith("POWER_USAGE") and gpu % 2 else 0
                lines.append(f"{name}{{{labels}}} {value + more}")
    return "\n".join(lines) + "\n"


class _Handler(http.server.BaseHTTPRequestHandler):
    body = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    port, hosts, gpus = (int(argument) for argument in sys.argv[1:4])
    _Handler.body = page(hosts, gpus).encode()
    http.server.ThreadingHTTPServer(("127.0.0.1", port), _Handler).serve_forever()
