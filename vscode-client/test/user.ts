// The story as a user sees it: a real window in Chromium, the packaged extension, the real server, a scripted model.

import { told } from "./support/tell";
import { review } from "./user/review";
import { story } from "./user/story";

told("Chromium", [story, review]);
