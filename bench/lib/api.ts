// The few REST calls that prepare a scenario: users with API keys, and a channel with subscribers. They use only the
// public API, so they work on any server that implements it. The account must be an organization owner or
// administrator. Unlike the client package it repeats nothing: a call that fails once fails its scenario.

import { basicAuthorization } from "./http-request.ts";
import type { Target } from "./target.ts";
import type { Credentials } from "./zuliprc.ts";

/** Accounts created concurrently: the server hashes passwords with a slow function. */
const ACCOUNTS_AT_ONCE = 4;

export interface User {
  readonly id: number;
  readonly email: string;
  readonly authorization: string;
}

export class Api {
  readonly #origin: string;
  readonly authorization: string;

  constructor(target: Pick<Target, "address">, credentials: Credentials) {
    this.#origin = `http://${target.address.host}:${target.address.port}/api/v1`;
    this.authorization = basicAuthorization(credentials.email, credentials.key);
  }

  /** Calls the operation and returns the body's text. Rejects with method, path and message on any status but 200. */
  call(method: "GET" | "POST", path: string, form: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.callAs(this.authorization, method, path, form);
  }

  /** Calls the operation as another user. */
  async callAs(
    authorization: string,
    method: "GET" | "POST" | "DELETE",
    path: string,
    form: Readonly<Record<string, string>>,
  ): Promise<string> {
    const query = new URLSearchParams(form);
    const suffix = method !== "POST" && query.size > 0 ? `?${query}` : "";
    return this.send(method, `${path}${suffix}`, authorization, method === "POST" ? query : null);
  }

  /** Calls the operation with a raw body: a form, or one with a file. */
  async send(
    method: "GET" | "POST" | "DELETE",
    path: string,
    authorization: string,
    body: URLSearchParams | FormData | null,
  ): Promise<string> {
    const response = await fetch(`${this.#origin}${path}`, {
      method,
      headers: { authorization },
      body,
    });
    const text = await response.text();
    if (response.status !== 200)
      throw new Error(`${method} ${path.split("?", 1)[0]} answered ${response.status}: ${text.slice(0, 300)}`);
    return text;
  }

  /** Creates `count` users and fetches their keys. `prefix` keeps the addresses of several calls distinct. */
  async createUsers(count: number, prefix: string): Promise<User[]> {
    const users: User[] = [];
    const work = async (first: number): Promise<void> => {
      for (let index = first; index < count; index += ACCOUNTS_AT_ONCE) {
        users[index] = await this.#createUser(`${prefix}-${index}`);
      }
    };
    await Promise.all(Array.from({ length: ACCOUNTS_AT_ONCE }, (_, first) => work(first)));
    return users;
  }

  /** Creates a channel by subscribing the caller and `users` to it; returns its id. */
  async createChannel(name: string, users: readonly User[]): Promise<number> {
    const subscriptions = JSON.stringify([{ name }]);
    await this.call("POST", "/users/me/subscriptions", { subscriptions });
    if (users.length > 0) {
      const principals = JSON.stringify(users.map((user) => user.id));
      await this.call("POST", "/users/me/subscriptions", { subscriptions, principals });
    }
    const found = JSON.parse(await this.call("GET", "/users/me/subscriptions")) as {
      readonly subscriptions: readonly { readonly name: string; readonly stream_id: number }[];
    };
    const channel = found.subscriptions.find((subscription) => subscription.name === name);
    if (channel === undefined) throw new Error(`the channel ${name} is not among the caller's subscriptions`);
    return channel.stream_id;
  }

  async #createUser(name: string): Promise<User> {
    const email = `${name}@bench.example.com`;
    const password = `bench password of ${name}`;
    const created = JSON.parse(await this.call("POST", "/users", { email, password, full_name: `Bench ${name}` })) as {
      readonly user_id: number;
    };
    const fetched = JSON.parse(await this.call("POST", "/fetch_api_key", { username: email, password })) as {
      readonly api_key: string;
    };
    return { id: created.user_id, email, authorization: basicAuthorization(email, fetched.api_key) };
  }
}
