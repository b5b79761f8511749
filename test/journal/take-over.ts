/** Takes a folder over again and again, and prints the epochs. */
import { takeOver } from "../../src/durability/journal/journal-writer.ts";

const [, , folder = "", rounds = "1"] = process.argv;
for (let round = 0; round < Number(rounds); round++) process.stdout.write(`${takeOver(folder).writer.epoch}\n`);
