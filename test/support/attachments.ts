/** Helpers for tests of uploaded files: uploads a file as clients do, and requests it as a given user. */
import type { Answer, Client } from "./client.ts";
import { type Fetched, fetchPage, multipart, multipartType } from "./pictures.ts";

export interface SentFile {
  readonly url: string;
  readonly filename: string;
}

export function sendFile(
  client: Client,
  bytes: Buffer | string,
  filename = '"notes.txt"',
  headers: Record<string, string> = {},
): Promise<Answer> {
  const body = multipart([{ bytes, filename, contentType: "application/octet-stream", name: "filename" }]);
  return client.send("POST", "/user_uploads", body, { "Content-Type": multipartType, ...headers });
}

/** Uploads a file. @returns its address and name */
export async function uploaded(client: Client, bytes: Buffer | string, filename?: string): Promise<SentFile> {
  const answer = await sendFile(client, bytes, filename);
  if (answer.status !== 200) throw new Error(`not uploaded: ${JSON.stringify(answer.body)}`);
  return answer.body as SentFile;
}

export function fetchFile(client: Client, url: string, headers: Record<string, string> = {}): Promise<Fetched> {
  const credentials: Record<string, string> = client.account === null ? {} : { Authorization: client.authorization };
  return fetchPage(client.url, encodeURI(url), { ...credentials, ...headers });
}

/** A link as clients write it. */
export function linkTo({ url, filename }: SentFile): string {
  return `[${filename}](${url})`;
}

/** The caller's list of files. */
// biome-ignore lint/suspicious/noExplicitAny: lists are compared as wholes
export async function attachmentsOf(client: Client): Promise<any[]> {
  return (await client.get("/attachments")).body.attachments;
}
