/**
 * Runs a request turn by turn, and takes a copy of the folder after each turn, which is what a crash at that moment
 * leaves.
 */

import type { Reply } from "../../src/runtime/results.ts";
import { crashImage, type OpenRealm, turn } from "./runtime.ts";
import type { Teardown } from "./server.ts";

const turnsMax = 1000;

/** @param between is called after each turn @throws when the response takes too long */
export async function runToAnswer(
  pending: Promise<Reply>,
  between: (turns: number) => void = () => undefined,
): Promise<Reply> {
  let result: Reply | undefined;
  void pending.then((settled) => {
    result = settled;
  });
  for (let turns = 1; result === undefined && turns <= turnsMax; turns++) {
    await turn();
    between(turns);
  }
  if (result === undefined) throw new Error(`no response after ${turnsMax} turns`);
  return result;
}

/** Copies of the folder now, and after each turn until the response: what a crash leaves. */
export async function crashesToAnswer(t: Teardown, { folder }: OpenRealm, pending: Promise<Reply>) {
  const images = [crashImage(t, folder)];
  const result = await runToAnswer(pending, () => images.push(crashImage(t, folder)));
  return { images, result };
}

/** Copies of the folder now, and after each turn until it is over, up to a maximum. */
export async function crashesUntil(t: Teardown, folder: string, isOver: () => boolean, most: number) {
  const images = [crashImage(t, folder)];
  while (images.length < most && !isOver()) {
    await turn();
    images.push(crashImage(t, folder));
  }
  return images;
}
