// What the server quotes from tests, models and file names in its messages.

import * as assert from "node:assert/strict";

import { plain } from "../../src/plain";
import { test } from "./kit";

test("what a message quotes is text, never a link that runs a command", () => {
  assert.equal(plain("[go](command:undo), [go](https://example.org)"), "[go] (command:undo), [go] (https://example.org)");
  assert.equal(plain("f[0](x) and [1](2)"), "f[0](x) and [1](2)");
  return Promise.resolve();
});
