// A button at each block of code that copies it; the prompt of a terminal is not copied.
for (const block of document.querySelectorAll('[role="main"] pre')) {
  const code = block.querySelector("code") ?? block;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy btn btn-sm btn-outline-secondary";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = code.textContent.trimEnd().split("\n");
    const typed = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
    const text = (typed.length ? typed : lines).join("\n") + "\n";
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      done = false; // not from a secure place
    }
    if (!done) getSelection().selectAllChildren(code);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}
// Tables with many columns are set smaller.
for (const table of document.querySelectorAll('[role="main"] table')) {
  if ((table.rows[0]?.cells.length ?? 0) > 7) table.classList.add("wide");
}
