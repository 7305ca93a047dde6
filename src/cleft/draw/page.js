// Folding: a folded phrase hides what is between its label and its words and
// draws a roof over the words; in an outline (fold.js) it hides the lines below
// its own. Arrow keys walk the tree; Enter and Space fold.
for (const button of document.querySelectorAll(".switch"))
  button.addEventListener("click", () => {
    const narrowed = button.closest("figure").classList.toggle("narrowed");
    button.setAttribute("aria-pressed", String(narrowed));
  });

for (const svg of document.querySelectorAll("svg[role=tree]")) {
  const labels = [...svg.querySelectorAll(".node")];
  const parts = [...svg.querySelectorAll("[data-node]")];
  const number = (element, name) => Number(element.getAttribute(name));
  const start = (element) => number(element, "data-node");
  const end = (element) => number(element, "data-end");
  const folded = new Set();
  const roofs = new Map();

  const parent = (label) =>
    labels.findLast((other) => start(other) < start(label) && end(other) >= end(label));
  const children = (label) => labels.filter((other) => parent(other) === label);

  function roof(label) {
    const at = (name) => number(label, "data-" + name);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const floor = at("floor") - 2;
    path.setAttribute("class", "roof");
    path.setAttribute("stroke-width", "1.3");
    path.setAttribute("d", `M${at("x")} ${at("y")}L${at("right")} ${floor}H${at("left")}Z`);
    return path;
  }

  const outline = svg.classList.contains("outline");
  const folds = labels.map((label) => {
    const at = (name) => number(label, "data-" + name);
    return { node: start(label), x: at("x"), y: at("y"), floor: at("floor"), words: at("words") };
  });

  function draw() {
    if (outline) refold(svg, folds, new Set([...folded].map(start)));
    else drawRoofs();
    for (const label of labels) label.setAttribute("aria-expanded", String(!folded.has(label)));
    // What can be reached by Tab must be there: else the phrase that hides it is.
    const reached = labels.find((label) => label.getAttribute("tabindex") === "0");
    const hider = reached?.classList.contains("gone") && [...folded].find((label) => inside(reached, label) && !label.classList.contains("gone"));
    if (hider) {
      reached.setAttribute("tabindex", "-1");
      hider.setAttribute("tabindex", "0");
    }
  }

  const inside = (part, label) => {
    const after = part.tagName === "path" ? start(part) >= start(label) : start(part) > start(label);
    return after && start(part) < end(label);
  };

  function drawRoofs() {
    // Labels stand in preorder, so the outermost folded ones come first.
    let last = -1;
    const outer = labels.filter((label) => {
      if (!folded.has(label) || end(label) <= last) return false;
      last = end(label);
      return true;
    });
    for (const part of parts) part.classList.toggle("gone", outer.some((label) => inside(part, label)));
    for (const path of roofs.values()) path.remove();
    roofs.clear();
    for (const label of labels) {
      if (folded.has(label) && !label.classList.contains("gone")) {
        roofs.set(label, roof(label));
        svg.insertBefore(roofs.get(label), label);
      }
    }
  }

  function toggle(label) {
    if (!folded.delete(label)) folded.add(label);
    draw();
  }

  function focus(label) {
    if (!label || label.classList.contains("gone")) return;
    for (const other of labels) other.setAttribute("tabindex", other === label ? "0" : "-1");
    label.focus();
  }

  function move(label, key) {
    if (key === "ArrowUp") return parent(label);
    if (key === "ArrowDown") return children(label)[0];
    if (key === "Home") return labels[0];
    const siblings = parent(label) ? children(parent(label)) : [label];
    return siblings[siblings.indexOf(label) + (key === "ArrowRight" ? 1 : -1)];
  }

  for (const label of labels) {
    label.addEventListener("click", () => (toggle(label), focus(label)));
    label.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") toggle(label);
      else if (/^(Arrow|Home)/.test(event.key)) focus(move(label, event.key));
      else return;
      event.preventDefault();
    });
  }

  const figure = svg.closest("figure");
  figure.querySelector(".unfold")?.addEventListener("click", () => (folded.clear(), draw()));
  figure.querySelector(".fold")?.addEventListener("click", () => {
    folded.clear();
    for (const label of children(labels[0])) folded.add(label);
    draw();
  });
}
