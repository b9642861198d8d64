// A DNS server on the loopback interface that answers MX and TXT queries from a table, and makes it this process's resolver.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import dns from "node:dns";
import { onTestFinished } from "vitest";

/** By name: the exchange of an MX record, and the texts of TXT records. */
export type Zone = Record<string, { mx?: string; txt?: string[] }>;

const types = { mx: 15, txt: 16 };

/** A name in the format of RFC 1035. */
const encodeName = (name: string) =>
  Buffer.concat(
    [...name.split(".").filter(Boolean), ""].map((label) => Buffer.from(`\0${label}`).fill(label.length, 0, 1)),
  );

/** A string of at most 255 bytes, after its length. */
const encodeText = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);

/** Answers from the zone; all names outside do not exist. The process's own resolver is back after the test. */
export async function serveDns(zone: Zone): Promise<void> {
  const socket = createSocket("udp4", (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    const question = query.subarray(12, end);
    const labels: string[] = [];
    for (let at = 0; question[at]; at += (question[at] as number) + 1) {
      labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] as number)));
    }
    const found = zone[labels.join(".").toLowerCase()];
    const type = question.readUInt16BE(question.length - 4);
    const mx =
      type === types.mx && found?.mx !== undefined ? [Buffer.concat([Buffer.from([0, 10]), encodeName(found.mx)])] : [];
    const txt = type === types.txt ? (found?.txt ?? []).map(encodeText) : [];
    const answers = [...mx, ...txt].map((data) => {
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]); // A pointer to the question's name.
      return Buffer.concat([head, data]);
    });
    const header = Buffer.from([
      ...query.subarray(0, 2),
      0x85,
      found ? 0x80 : 0x83,
      0,
      1,
      0,
      answers.length,
      0,
      0,
      0,
      0,
    ]);
    socket.send(Buffer.concat([header, question, ...answers]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  useResolver(`127.0.0.1:${socket.address().port}`);
}

/** Sends this process's queries to the address until the end of the test. */
export function useResolver(ip: string): void {
  const own = dns.getServers();
  dns.setServers([ip]);
  onTestFinished(() => dns.setServers(own));
}
