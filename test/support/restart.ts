/** A server that is stopped and started again on its folder: what was answered before must be there after (M1). */
import { Client } from "./client.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

export interface Restarted {
  readonly server: TestServer;
  /** The same person at the new server. */
  as(client: Client): Client;
}

export async function restart(t: Teardown, before: TestServer): Promise<Restarted> {
  await before.stop();
  const server = await startTestServer(t, { dataDir: before.dataDir });
  return { server, as: (client) => new Client(server.url, client.account) };
}
