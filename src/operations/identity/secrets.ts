/** API keys and keys in links: 32 characters out of 62, which is 190 random bits (S2). Only their hashes are stored. */
import { randomInt } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const keyLength = 32;

export function newSecret(): string {
  let key = "";
  for (let index = 0; index < keyLength; index++) key += alphabet[randomInt(alphabet.length)];
  return key;
}
