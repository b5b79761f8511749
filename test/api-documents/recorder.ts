/**
 * Records one successful request of each operation, with its answer, for the examples of the API documents. What a
 * server draws at random, and its address, are replaced, so that the recording says the same each time.
 */
import type { Endpoint } from "../../schemas/endpoint.ts";
import { pathVariables } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import type { Example } from "../../src/api-documents/examples.ts";
import { type Answer, type Client, encodeForm, type Params } from "../support/client.ts";
import { multipart, multipartType } from "../support/pictures.ts";

// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which the client compared with its declaration
type Body = any;

export interface Sent {
  readonly by?: Client;
  /** The file of an upload. */
  readonly file?: { readonly bytes: Buffer | string; readonly name: string };
  /** No server of the tests can succeed: a push service or a video server is missing. */
  readonly fails?: true;
}

export class Recorder {
  readonly examples = new Map<string, Example>();
  readonly #client: Client;
  readonly #site: string;

  /** @param client the caller of requests that name no other */
  constructor(client: Client, site: string) {
    this.#client = client;
    this.#site = site;
  }

  /** Sends a request; the first one of an operation is its example. @returns the answer's body */
  readonly call = async (
    operationId: string,
    params: Params = {},
    { by = this.#client, file, fails }: Sent = {},
  ): Promise<Body> => {
    const endpoint = endpoints.find((one) => one.operationId === operationId);
    if (endpoint === undefined) throw new Error(`no operation ${operationId}`);
    const variables = new Set(pathVariables(endpoint.path).map(({ name }) => name));
    const path = endpoint.path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => encodeURI(String(params[name])));
    const form = Object.fromEntries(Object.entries(params).filter(([name]) => !variables.has(name)));
    const { status, body } = await this.send(by, endpoint, path, form, file);
    if (status >= 400 !== (fails === true)) throw new Error(`${operationId}: ${status} ${JSON.stringify(body)}`);
    if (!this.examples.has(operationId)) {
      const example = fails === true ? { params } : { params, answer: body };
      this.examples.set(operationId, JSON.parse(this.cleaned(JSON.stringify(example))) as Example);
    }
    return body;
  };

  protected send(
    by: Client,
    { method }: Endpoint,
    path: string,
    form: Params,
    file: Sent["file"],
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    if (file !== undefined) {
      const fields = Object.entries(form).map(([name, value]) => ({ name, bytes: JSON.stringify(value) }));
      const parts = [...fields, { bytes: file.bytes, filename: `"${file.name}"` }];
      return by.send(method, path, multipart(parts), { "Content-Type": multipartType, ...headers });
    }
    if (method === "GET") return by.get(path, form);
    return by.send(method, path, encodeForm(form), headers);
  }

  cleaned(text: string): string {
    return text
      .replaceAll(this.#client.url, this.#site)
      .replaceAll(/"[A-Za-z0-9]{32}"/g, `"${secret}"`)
      .replaceAll(/\/join\/[A-Za-z0-9]{32}/g, `/join/${secret}`)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, uuid)
      .replaceAll(/[0-9a-f]{12}-[0-9a-f]{24}/g, queue)
      .replaceAll("@127.0.0.1", `@${new URL(this.#site).host}`)
      .replaceAll(/\/user_uploads\/(\d+)\/[^"/]+\/[^"/]+\//g, "/user_uploads/$1/f/Xk3aZ9/");
  }
}

const secret = "abcdefghijklmnopqrstuvwxyz012345";
const queue = "0123456789ab-0123456789abcdef01234567";
const uuid = "5f0c1d3e-8a4b-4c6d-9e2f-7b1a0c3d5e6f";
