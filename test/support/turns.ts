/** Turn by turn: an answer that takes several, and a crash after each of them, which is a copy of the folder at that moment. */
import type { AskResult } from "../../src/runtime/entry.ts";
import { crashImage, type OpenRealm, turn } from "./runtime.ts";
import type { Teardown } from "./server.ts";

const turnsMax = 1000;

/** @param between is called after each turn @throws when the answer takes too long */
export async function runToAnswer(
  asked: Promise<AskResult>,
  between: (turns: number) => void = () => undefined,
): Promise<AskResult> {
  let result: AskResult | undefined;
  void asked.then((settled) => {
    result = settled;
  });
  for (let turns = 1; result === undefined && turns <= turnsMax; turns++) {
    await turn();
    between(turns);
  }
  if (result === undefined) throw new Error(`no answer after ${turnsMax} turns`);
  return result;
}

/** What a crash leaves now, and after each turn to the answer. */
export async function crashesToAnswer(t: Teardown, { folder }: OpenRealm, asked: Promise<AskResult>) {
  const images = [crashImage(t, folder)];
  const result = await runToAnswer(asked, () => images.push(crashImage(t, folder)));
  return { images, result };
}

/** What a crash leaves now, and after each turn until it is over, at the most so many. */
export async function crashesUntil(t: Teardown, folder: string, isOver: () => boolean, most: number) {
  const images = [crashImage(t, folder)];
  while (images.length < most && !isOver()) {
    await turn();
    images.push(crashImage(t, folder));
  }
  return images;
}
