// What autocannon sends, where wrk is not installed: the same as load.lua.
// Arguments: address, seconds, and for sign-ups the word "signups". Prints what came back as JSON.
import { randomBytes } from "node:crypto";
import autocannon, { type Options, type Request } from "autocannon";

const [url = "", seconds = "1", kind = "pages"] = process.argv.slice(2);

/** Written before the load begins, so that the generator costs as little as it can. 64 times as many outlast a round. */
const signupsPerConnection = 800;

function signups(): Request[] {
  const run = randomBytes(6).toString("hex");
  return Array.from({ length: signupsPerConnection }, (_, i) => ({
    method: "POST",
    path: "/api/earlyaccess",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      name: "Ada Lovelace",
      email: `ada.${run}.${i}@example.com`,
      company: "Analytical Engines",
      job_title: "Engineer",
    }),
  }));
}

const options: Options = { url, connections: 64, duration: Number(seconds), headers: { "accept-encoding": "br" } };
if (kind === "signups") options.setupClient = (client) => client.setRequests(signups());

const { requests, duration, errors, non2xx } = await autocannon(options);
process.stdout.write(JSON.stringify({ requests: requests.total, seconds: duration, errors, refused: non2xx }));
