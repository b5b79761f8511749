/** Accounts made over the API alone, for servers that are processes of their own. */
import { Client } from "./client.ts";

export async function createAccount(owner: Client, name: string): Promise<Client> {
  const email = `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;
  const password = "correct horse battery";
  const made = await owner.post("/users", { email, password, full_name: name });
  if (made.status !== 200) throw new Error(`could not make ${name}: ${JSON.stringify(made.body)}`);
  const { body } = await owner.anonymous().post("/fetch_api_key", { username: email, password });
  return new Client(owner.url, { email, key: body.api_key, userId: body.user_id });
}
