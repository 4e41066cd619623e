"use strict";
// Shows what the window says. All HTML comes cleaned from the window; nothing here reads anything else.
(() => {
  const log = document.getElementById("log");
  const items = document.getElementById("items");
  const newer = document.getElementById("newer");
  const announce = document.getElementById("announce");
  const elements = new Map();
  const folds = new Map();
  let bridge = null;
  let follows = true; // the newest is kept in sight, until somebody scrolls up
  let unseen = 0;
  let telling = 0; // the timer that tells the window which row is the first that is seen
  let words = { newer: "{count} new", codeActs: [["copy_code", "Copy"]], copyIcon: "", newerIcon: "", lines: "{count} lines", more: "Show {count} more lines" };
  let grown = 0; // characters of HTML since the garbage was collected; nobody else does before it is gigabytes
  const MOST_GROWN = 500000;
  const LONG_CODE = 18; // lines; a longer block is folded to its first ones
  const NUMBERED_CODE = 12; // lines; of more each has its number
  const SHOWN_CODE = 14;
  const THOUGHT_PART = 2000; // characters
  const LONGEST_TEXT = 20000; // characters of a row that its menu copies

  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  const toEnd = () => { log.scrollTop = log.scrollHeight; };
  let held = null; // the row that stays where it was placed while rows come above it, until somebody scrolls
  const hold = () => {
    log.scrollTop += held.row.getBoundingClientRect().top - log.getBoundingClientRect().top + held.above;
    held.at = log.scrollTop;
  };

  function firstSeen() {
    const top = log.getBoundingClientRect().top;
    return [...items.children].find(each => each.getBoundingClientRect().bottom > top);
  }

  function showNewer() {
    newer.hidden = follows || unseen === 0;
    newer.innerHTML = words.newerIcon;
    newer.append(words.newer.replace("{count}", String(unseen)));
  }

  // A number and its unit stay on one line; what is copied has an ordinary space (Chromium sees to it).
  const FIGURE = /(\d) (?=(?:[fpnuµμmkMGT]?(?:Hz|V|A|W|F|H|s|Ω|m)|dB|°C|%)(?![\p{Script=Latin}\d]))/gu;
  function holdFigures(element) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (!text.data.includes(" ") || text.parentElement.closest("pre, code, textarea, .math")) continue;
      const held = text.data.replace(FIGURE, "$1\u00a0");
      if (held !== text.data) text.data = held;
    }
  }

  function dress(element) {
    holdFigures(element);
    for (const span of element.querySelectorAll(".math:not([data-done])")) {
      span.dataset.done = "1";
      const tex = span.textContent;
      try {
        katex.render(tex, span, {
          displayMode: span.classList.contains("display"), throwOnError: true, trust: false, strict: "ignore",
          maxExpand: 300, maxSize: 20,
        });
      } catch (problem) {
        span.textContent = tex;
        span.classList.add("bad");
      }
    }
    for (const bar of element.querySelectorAll("i[data-fill]")) {
      const side = bar.classList.contains("right") ? 2 / 3 : 1 / 3;
      bar.style.width = `${Number(bar.dataset.fill) * side * 100}%`;
    }
    for (const span of element.querySelectorAll("[data-countdown]")) countDown(span);
    for (const block of element.querySelectorAll("pre.code")) dressCode(block);
    for (const field of element.querySelectorAll("textarea[data-field]")) {
      field.value = field.dataset.arg ?? "";
      requestAnimationFrame(() => fit(field));
    }
  }

  // A field is as high as its text.
  function fit(field) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }

  // What is written in a row is told a moment later, and at once when the keyboard leaves it.
  let untold = 0;
  function tellText(field) {
    clearTimeout(untold);
    untold = 0;
    if (field.isConnected) bridge?.act("row_text", field.closest(".item").dataset.key, field.value);
  }

  // What can be done with a code block: the window knows it by its place in the answer.
  function codeButton([act, label], isIcon) {
    const button = document.createElement("button");
    button.className = isIcon ? "icon" : "quiet";
    if (isIcon) {
      button.title = label;
      button.setAttribute("aria-label", label);
      button.innerHTML = words.copyIcon;
    } else button.textContent = label;
    button.dataset.code = act;
    return button;
  }

  // A copy button; a netlist gets a head with its ways, a long block one with its length, and is folded.
  function dressCode(block) {
    if (block.querySelector("[data-code]") || block.closest(".long-code")) return;
    const copy = words.codeActs.at(-1);
    const lines = block.querySelector("code")?.textContent.replace(/\n$/, "").split("\n").length ?? 0;
    numberLines(block, lines);
    const isWhole = !block.closest(".tail") && !block.classList.contains("part");
    const isNetlist = block.classList.contains("spice");
    const isLong = lines > LONG_CODE;
    if (!isWhole || !(isNetlist || isLong)) {
      block.append(codeButton(copy, true));
      return;
    }
    const box = document.createElement("div");
    box.className = isLong ? "long-code folded" : "long-code";
    const head = document.createElement("div");
    head.className = "code-head";
    const length = document.createElement("span");
    length.textContent = words.lines.replace("{count}", String(lines));
    head.append(length);
    if (isNetlist) for (const act of words.codeActs.slice(0, -1)) head.append(codeButton(act, false));
    head.append(codeButton(copy, true));
    block.replaceWith(box);
    box.append(head, block);
    if (!isLong) return;
    const more = document.createElement("button");
    more.className = "more";
    more.dataset.unfold = "1";
    more.textContent = words.more.replace("{count}", String(lines - SHOWN_CODE));
    box.style.setProperty("--shown-lines", String(SHOWN_CODE));
    box.append(more);
  }

  // The numbers of the lines of a longer block, beside them: drawn only, so that no copy has them.
  function numberLines(block, count) {
    const isPart = block.classList.contains("part");
    const neighbor = isPart ? block.previousElementSibling : null;
    const before = neighbor?.matches("pre.code") ? neighbor : neighbor?.querySelector("pre.code");
    const first = isPart ? Number(before?.dataset.next) : 1;
    if (!first) return;
    block.dataset.next = String(first + count);
    if (block.closest(".tail") || (first === 1 && count <= NUMBERED_CODE)) return;
    const code = block.querySelector("code");
    code.dataset.lines = Array.from({ length: count }, (_, n) => first + n).join("\n");
    code.style.setProperty("--digits", String(String(first + count - 1).length));
  }

  // What is waited for, told every second; it ends with its element.
  function countDown(span) {
    const until = performance.now() + Number(span.dataset.countdown) * 1000;
    const tell = () => {
      if (!span.isConnected && performance.now() > until) return;
      const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      span.textContent = span.dataset.text.replace("{seconds}", String(left));
      if (left > 0) setTimeout(tell, 250);
    };
    tell();
  }

  function fill(element, html) {
    const held = element.contains(document.activeElement) ? document.activeElement.dataset : null;
    const prose = element.querySelector(".prose.answer");
    element.innerHTML = html;
    element.querySelector(".prose.answer.kept")?.replaceWith(prose);
    grown += html.length;
    if (held?.act) { // whoever is there with the keyboard stays there
      const same = [...element.querySelectorAll("[data-act]")];
      same.find((each) => each.dataset.act === held.act && each.dataset.arg === held.arg)?.focus({ preventScroll: true });
    }
    for (const details of element.querySelectorAll("details[data-fold]")) {
      const known = folds.get(`${(details.closest(".item") ?? element).dataset.key}/${details.dataset.fold}`);
      if (known !== undefined) details.open = known;
    }
    dress(element);
  }

  function make(key, kind, html) {
    const element = document.createElement("div");
    element.className = `item ${kind}`;
    element.dataset.key = key;
    fill(element, html);
    elements.set(key, element);
    return element;
  }

  function markNewest() {
    for (const old of items.querySelectorAll(".newest")) old.classList.remove("newest");
    let element = items.lastElementChild;
    for (let n = 0; element && n < 12; n++, element = element.previousElementSibling) element.classList.add("newest");
  }

  // Thoughts stand in parts that end with a line: what comes lays out the last of them only.
  function appendThought(box, reasoning) {
    const part = box.lastElementChild ?? box.appendChild(document.createElement("div"));
    part.append(reasoning);
    part.size = (part.size ?? 0) + reasoning.length;
    if (part.size <= THOUGHT_PART) return;
    const last = part.lastChild;
    let end = last.data.lastIndexOf("\n");
    if (end < 0 && part.size < 4 * THOUGHT_PART) return;
    if (end < 0) end = last.data.lastIndexOf(" "); // a line without end
    const next = box.appendChild(document.createElement("div"));
    if (end < 0) return;
    next.append(last.data.slice(end + 1));
    next.size = next.textContent.length;
    last.data = last.data.slice(0, end);
  }

  const operations = {
    reset() { clearTimeout(telling); telling = 0; elements.clear(); items.replaceChildren(); held = null; follows = true; unseen = 0; },
    add(key, kind, html) {
      items.querySelector(".empty")?.parentElement.remove();
      items.append(make(key, kind, html));
      if (!follows) unseen += 1;
      markNewest();
    },
    prepend(rows) {
      const first = firstSeen(); // it stays where it is, whether the page anchors it by itself or not
      const top = first?.getBoundingClientRect().top ?? 0;
      const fragment = document.createDocumentFragment();
      for (const [key, kind, html] of rows) fragment.append(make(key, kind, html));
      items.prepend(fragment);
      if (!first) return;
      // The rows that came are as high as they are guessed to be until they are drawn: it is held until then.
      held ??= { row: first, above: log.getBoundingClientRect().top - top, isLoose: true };
      hold();
    },
    update(key, kind, html) {
      const element = elements.get(key);
      if (!element) return;
      element.className = `item ${kind}${element.classList.contains("newest") ? " newest" : ""}`;
      fill(element, html);
    },
    remove(key) { elements.get(key)?.remove(); elements.delete(key); },
    stream(key, done, tail, raw, reasoning) {
      const element = elements.get(key);
      if (!element) return;
      element.classList.add("live");
      if (reasoning) {
        const box = element.querySelector(".thought.live");
        const text = box?.querySelector(".reasoning");
        if (text) {
          const follow = text.scrollHeight - text.scrollTop - text.clientHeight < 24;
          box.hidden = false;
          appendThought(text, reasoning);
          if (follow) text.scrollTop = text.scrollHeight;
        }
      }
      const doneBox = element.querySelector(".done");
      const tailBox = element.querySelector(".tail");
      if (!doneBox || !tailBox) return;
      if (done) {
        const part = document.createElement("div");
        part.innerHTML = done;
        dress(part);
        doneBox.append(...part.childNodes);
      }
      grown += done.length + (tail?.length ?? 0);
      if (tail !== null) {
        tailBox.classList.remove("raw");
        tailBox.innerHTML = tail;
        dress(tailBox);
      }
      if (raw) {
        tailBox.classList.add("raw");
        tailBox.append(raw);
      }
      if (element.querySelector(".thought.live[open]") && (done || tail || raw)) {
        element.querySelector(".thought.live").open = false;
      }
    },
    theme(values) { for (const [name, value] of Object.entries(values)) document.documentElement.style.setProperty(name, value); },
    language(name, texts) { document.documentElement.lang = name; words = texts; showNewer(); },
    // Where the keyboard is in another part of the window nothing here looks as if it were here.
    focus(isHere) { document.body.classList.toggle("away", !isHere); },
    announce(text) { announce.textContent = text; },
    place(key, above, markedMs) {
      const row = elements.get(key);
      if (!row) return;
      follows = false;
      held = { row, above };
      if (markedMs) {
        row.classList.add("found");
        setTimeout(() => row.classList.remove("found"), markedMs);
      }
      hold();
    },
    end() { held = null; follows = true; unseen = 0; toEnd(); },
  };

  window.conversation = {
    focusField() {
      const field = items.querySelector("textarea[data-field]");
      if (!field) return;
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
      requestAnimationFrame(() => { fit(field); field.closest(".item").scrollIntoView({ block: "nearest" }); });
    },
    apply(list) {
      for (const [name, ...rest] of list) operations[name](...rest);
      if (follows) toEnd();
      showNewer();
      if (grown > MOST_GROWN) {
        grown = 0;
        window.gc?.({ type: "major", execution: "async" });
      }
    },
  };

  function tellPlace() {
    telling = 0;
    const top = log.getBoundingClientRect().top;
    const row = atEnd() ? null : firstSeen();
    bridge?.place(row?.dataset.key ?? "", row ? Math.round(top - row.getBoundingClientRect().top) : 0);
    if (log.scrollTop < 2 * log.clientHeight) bridge?.older(); // there may be earlier rows above
  }

  // Scrolling by a person stops the following; the end of the log starts it again.
  log.addEventListener("wheel", event => { if (event.deltaY < 0 && log.scrollHeight > log.clientHeight) follows = false; showNewer(); }, { passive: true });
  log.addEventListener("keydown", event => { if (["PageUp", "ArrowUp", "Home"].includes(event.key)) follows = false; });
  log.addEventListener("mousedown", event => { if (event.offsetX > log.clientWidth) follows = false; });
  log.addEventListener("scroll", () => {
    if (atEnd()) { follows = true; unseen = 0; }
    if (held?.isLoose && Math.abs(log.scrollTop - held.at) > 1) held = null; // scrolled, by whatever means
    showNewer();
    telling ||= setTimeout(tellPlace, 100);
  }, { passive: true });
  for (const kind of ["wheel", "keydown", "mousedown"]) log.addEventListener(kind, () => { held = null; }, { passive: true });
  new ResizeObserver(() => { if (follows) toEnd(); else if (held) hold(); }).observe(items);
  new ResizeObserver(() => { if (follows) toEnd(); }).observe(log);
  newer.addEventListener("click", () => { follows = true; unseen = 0; toEnd(); showNewer(); });

  items.addEventListener("toggle", event => {
    const details = event.target;
    const key = details.closest(".item")?.dataset.key;
    if (key && details.dataset.fold) folds.set(`${key}/${details.dataset.fold}`, details.open);
  }, true);

  // The code block that holds an element: its number in its answer; -1 = none.
  function numberOfCode(element) {
    const box = element.closest(".long-code");
    const block = element.closest("pre.code") ?? box?.querySelector("pre.code");
    const answer = block?.closest(".answer");
    if (!answer) return -1;
    const all = [...answer.querySelectorAll("pre.code")];
    return all.slice(0, all.indexOf(block) + 1).filter(each => !each.classList.contains("part")).length - 1;
  }

  // The menu of a row: of the one that is clicked, or where the keyboard is; else of the last that is seen.
  log.addEventListener("contextmenu", event => {
    event.preventDefault();
    const field = event.target.closest("textarea");
    if (field) {
      bridge?.field_menu(field.selectionEnd > field.selectionStart, Math.round(event.clientX), Math.round(event.clientY));
      return;
    }
    let row = event.target.closest(".item");
    let [x, y] = [event.clientX, event.clientY];
    if (!row && event.button !== 2) {
      const bottom = log.getBoundingClientRect().bottom;
      row = [...items.children].findLast(each => each.getBoundingClientRect().top < bottom - 24);
      const place = row?.getBoundingClientRect();
      if (place) [x, y] = [place.left + 24, Math.min(Math.max(place.top + 24, 24), bottom - 24)];
    }
    if (!row) return;
    const selection = window.getSelection();
    const chosen = selection.containsNode(row, true) ? selection.toString() : "";
    const isText = row.querySelector(".answer, .user");
    const text = isText || row.innerText.length > LONGEST_TEXT ? "" : row.innerText;
    const link = event.target.closest("a[href]")?.href ?? "";
    bridge?.menu(row.dataset.key, numberOfCode(event.target), link, chosen, text, Math.round(x), Math.round(y));
  });

  function act(event) {
    const link = event.target.closest("a[href]");
    if (link) { event.preventDefault(); bridge?.act("link", "", link.href); return; }
    const code = event.target.closest("[data-code]");
    if (code) {
      bridge?.act(code.dataset.code, code.closest(".item").dataset.key, String(numberOfCode(code)));
      return;
    }
    const unfold = event.target.closest("[data-unfold]");
    if (unfold) { unfold.parentElement.classList.remove("folded"); unfold.remove(); return; }
    const more = event.target.closest("[data-more]");
    if (more) { more.previousElementSibling.hidden = false; more.remove(); return; }
    const target = event.target.closest("[data-act]");
    if (!target || target.disabled) return;
    event.preventDefault(); // a tool in a summary must not fold it
    const item = target.closest(".item");
    const field = item?.querySelector("textarea[data-field]");
    const written = field?.dataset.field === target.dataset.act ? field.value : null;
    bridge?.act(target.dataset.act, item ? item.dataset.key : "", written ?? target.dataset.arg ?? "");
  }
  items.addEventListener("click", act);
  items.addEventListener("keydown", event => { if (event.key === "Enter" && event.target.matches("[data-act]:not(button)")) act(event); });

  items.addEventListener("keydown", event => {
    const field = event.target;
    if (!field.matches("textarea[data-field]") || event.isComposing) return;
    const key = field.closest(".item").dataset.key;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      bridge?.act(field.dataset.field, key, field.value);
    } else if (event.key === "Escape") {
      event.preventDefault();
      bridge?.act(field.dataset.leave, key, "");
    }
  });
  items.addEventListener("input", event => {
    const field = event.target;
    if (!field.matches("textarea[data-field]")) return;
    fit(field);
    clearTimeout(untold);
    untold = setTimeout(() => tellText(field), 200);
  });
  items.addEventListener("focusout", event => { if (untold && event.target.matches("textarea[data-field]")) tellText(event.target); });

  new QWebChannel(qt.webChannelTransport, channel => { bridge = channel.objects.bridge; bridge.ready(); });
})();
