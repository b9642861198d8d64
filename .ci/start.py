# The site as a stranger starts it, with nothing but Node: it stores a sign-up, and Ctrl-C leaves nothing running.
import json, os, signal, socket, subprocess, time, urllib.request

port = int(os.environ.setdefault("PORT", "3123"))
lock = ".data/postgres/data/postmaster.pid"


def until(condition, check, seconds):
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"After {seconds} s, this does not hold: {condition}."
        time.sleep(1)


def sign_up():
    entry = json.dumps({"name": "Ada", "email": "ada@example.com", "company": "Engines"}).encode()
    url, headers = f"http://127.0.0.1:{port}/api/earlyaccess", {"Content-Type": "application/json"}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, entry, headers), timeout=20).status == 201
    except OSError:
        return False


def is_free(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


# A process group of its own: the signal reaches the site as that of a terminal does.
site = subprocess.Popen("npm start", shell=True, stdin=subprocess.DEVNULL, start_new_session=True)
try:
    until("a sign-up is stored", sign_up, 300)
    show = "npm run --silent waitlist -- show ada@example.com"
    assert "Engines" in subprocess.run(show, shell=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    with open(lock) as file:
        postgres_port = int(file.read().split("\n")[3])
finally:
    os.killpg(site.pid, signal.SIGINT)
until(
    "the site and Postgres have ended",
    lambda: is_free(port) and is_free(postgres_port) and not os.path.exists(lock),
    60,
)
