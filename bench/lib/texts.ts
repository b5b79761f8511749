// The content of posts: a few topics with one text each. The marker makes every message's content unique.

import { MARKER } from "./http-request.ts";
import { seededRandom } from "./statistics.ts";

const TOPICS = 4;
const WORDS = ["river", "stone", "lantern", "orchard", "signal", "harbour", "paper", "winter", "copper", "meadow"];
const WORDS_PER_MESSAGE = 12;

export interface MessageText {
  readonly topic: string;
  readonly content: string;
}

/** One message per topic; the same for every server measured in a run. */
export function texts(seed: number): MessageText[] {
  const random = seededRandom(seed);
  return Array.from({ length: TOPICS }, (_, index) => {
    const words = Array.from({ length: WORDS_PER_MESSAGE }, () => WORDS[Math.floor(random() * WORDS.length)] ?? "");
    return { topic: `bench ${index + 1}`, content: `${MARKER} ${words.join(" ")}` };
  });
}
