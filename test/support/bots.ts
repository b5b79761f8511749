/** Creates bots as clients do: over POST /bots, with the key that is returned once. */
import { type Answer, Client, type Params } from "./client.ts";

export interface MadeBot {
  /** Acts as the bot. */
  readonly bot: Client;
  readonly answer: Answer;
}

/** @throws when the bot is rejected */
export async function makeBot(owner: Client, name: string, params: Params = {}): Promise<MadeBot> {
  const answer = await owner.post("/bots", { full_name: `The ${name}`, short_name: name, ...params });
  if (answer.status !== 200) throw new Error(`no bot ${name}: ${JSON.stringify(answer.body)}`);
  const { user_id: userId, email, api_key: key } = answer.body;
  return { bot: new Client(owner.url, { email, key, userId }), answer };
}
