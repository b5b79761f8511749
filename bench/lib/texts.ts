// What is said in posts: a few topics, each with a text of its own. The marker in it makes every message's content different.

import { MARKER } from "./http-request.ts";
import { seededRandom } from "./statistics.ts";

const TOPICS = 4;
const WORDS = ["river", "stone", "lantern", "orchard", "signal", "harbour", "paper", "winter", "copper", "meadow"];
const WORDS_PER_MESSAGE = 12;

export interface MessageText {
  readonly topic: string;
  readonly content: string;
}

/** One message per topic; the same for every server that is measured in a run. */
export function texts(seed: number): MessageText[] {
  const random = seededRandom(seed);
  return Array.from({ length: TOPICS }, (_, index) => {
    const words = Array.from({ length: WORDS_PER_MESSAGE }, () => WORDS[Math.floor(random() * WORDS.length)] ?? "");
    return { topic: `bench ${index + 1}`, content: `${MARKER} ${words.join(" ")}` };
  });
}
