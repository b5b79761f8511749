/** Stops a server and starts it again on its folder: everything that was answered before must exist afterwards (M1). */
import { Client } from "./client.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

export interface Restarted {
  readonly server: TestServer;
  /** The same user at the new server. */
  as(client: Client): Client;
}

export async function restart(t: Teardown, before: TestServer): Promise<Restarted> {
  await before.stop();
  const server = await startTestServer(t, { dataDir: before.dataDir });
  return { server, as: (client) => new Client(server.url, client.account) };
}
