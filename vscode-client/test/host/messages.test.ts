// Messages that quote tests, models and file names.

import * as assert from "node:assert/strict";

import { escapeLinks } from "../../src/escapeMarkdown";
import { test } from "./helpers";

test("text quoted in a message never becomes a command link", () => {
  assert.equal(escapeLinks("[go](command:undo), [go](https://example.org)"), "[go] (command:undo), [go] (https://example.org)");
  assert.equal(escapeLinks("f[0](x) and [1](2)"), "f[0](x) and [1](2)");
  return Promise.resolve();
});
