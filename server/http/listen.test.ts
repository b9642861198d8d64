// A port of this machine, with and without IPv6.
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { listen } from "./listen.ts";

/** The prototype of Node's sockets, whose bind6 returns the system's error. */
interface Handle {
  bind6(): number;
}

const EAFNOSUPPORT = -97;

it.each([
  ["::", false, expect.stringMatching(/^(?:::|0\.0\.0\.0)$/)],
  ["::", true, "0.0.0.0"],
  ["0.0.0.0", true, "0.0.0.0"],
])("HOST=%s, if the kernel refuses IPv6: %s, listens on %s and takes IPv4 clients", async (host, refused, address) => {
  const server = createServer((socket) => void socket.end());
  onTestFinished(() => void server.close());
  if (refused) await refuseIPv6();
  const port = await listen(server, host, 0);
  expect((server.address() as AddressInfo).address).toEqual(address);
  await once(connect(port, "127.0.0.1"), "connect");
});

it("a host that is an IPv6 address is not replaced", async () => {
  await refuseIPv6();
  await expect(listen(createServer(), "::1", 0)).rejects.toMatchObject({
    message:
      "Cannot listen on HOST=::1, PORT=0 (EAFNOSUPPORT). Choose an address of this machine, and a port above 1023.",
  });
});

async function refuseIPv6() {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { _handle: handle } = other as unknown as { _handle: object };
  const refusing = vi.spyOn(Object.getPrototypeOf(handle) as Handle, "bind6").mockReturnValue(EAFNOSUPPORT);
  onTestFinished(() => {
    refusing.mockRestore();
    other.close();
  });
}
