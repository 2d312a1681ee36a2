// The extension as a user sees it: a real window in Chromium, packaged extension, real server, scripted model.

import { runStories } from "./support/stories";
import { firstRun } from "./user/firstRun";
import { improve } from "./user/improve";
import { capable } from "./user/looks";
import { review } from "./user/review";
import { story } from "./user/story";
import { testing } from "./user/testing";
import { typing } from "./user/typing";

const dark = testing("Default Dark Modern", "dark");
const light = testing("Default Light Modern", "light");

runStories("Chromium", { story, firstRun, light }, { typing, capable, review, improve, dark });
