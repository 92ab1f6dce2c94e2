"""A worker for the Agent Task Platform, in Python without a package: all that there is between the platform and agent.py.

ATP_URL=http://localhost:8080 WORKER_KEY=wk-… python3 worker.py (docs/guides/worker-rules.md has the rules)
"""
import base64, contextlib, http.client, io, json, os, signal, sys, threading, time, urllib.error, urllib.request, zipfile
from agent import work

URL, KEY = os.environ["ATP_URL"], os.environ["WORKER_KEY"]
PROFILES = [name for name in os.environ.get("PROFILES", "").split(",") if name]


class Lost(Exception):
    """The run is another's now, or the user stopped it: drop it."""


def call(method, **body):
    """Sends it again, as it was, until it is answered: whatever it is, it is done once."""
    headers = {"content-type": "application/json", "x-api-key": KEY}
    request = urllib.request.Request(f"{URL}/worker.v1.WorkerService/{method}", json.dumps(body).encode(), headers)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            said = refusal.read().decode()
            if "failed_precondition" in said:
                raise Lost() from None
            if refusal.code < 500 and refusal.code != 429:
                raise RuntimeError(f"{method}: {said}") from None
        except (OSError, http.client.HTTPException, ValueError):
            pass  # no answer, or half of one
        time.sleep(1)


class Run:
    """What the agent may do in its turn."""

    def __init__(self, turn):
        self.name, self.over = {"taskId": turn["taskId"], "fence": turn["fence"]}, threading.Event()
        threading.Thread(target=self.beat, args=(turn["leaseSeconds"] / 3,), daemon=True).start()

    def beat(self, seconds):
        """Keeps the run while nothing else is said in it, and hears of a stop."""
        while not self.over.wait(seconds):
            if call("Heartbeat", **self.name).get("stop"):
                self.over.set()

    def append(self, *events):
        call("Append", **self.name, events=events)

    def upload(self, filename, content):
        return call("Upload", **self.name, filename=filename, content=base64.b64encode(content).decode())["uploadId"]

    def skill(self, url):
        """A skill's folder; its address needs no key."""
        with urllib.request.urlopen(url, timeout=40) as answer:
            return zipfile.ZipFile(io.BytesIO(answer.read()))

    def pause(self, seconds):
        if self.over.wait(seconds):
            raise Lost()


def serve(turn):
    """Does one turn; answers the next one where the platform has it already."""
    run = Run(turn)
    try:
        try:
            outcome = work(turn, run)
        except (RuntimeError, ValueError, LookupError, OSError) as error:
            outcome = {"fail": {"errorType": "internal", "content": str(error) or "unknown"}}
        return call("Finish", **run.name, **outcome).get("run")
    except Lost:
        return None
    except SystemExit:  # told to stop: another goes on at once
        with contextlib.suppress(Lost):
            call("Release", **run.name)
        raise
    finally:
        run.over.set()


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
turn = None
while True:
    turn = turn or call("Poll", waitSeconds=30, profiles=PROFILES).get("run")
    turn = turn and serve(turn)
