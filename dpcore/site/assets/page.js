// What helps a reader: links at headings, buttons that copy code, colours in code, the search box, filters of tables.
// Everything on the page can be read without this script.
(() => {
  "use strict";
  const make = (tag, attributes, text) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // ---- links at headings ----
  for (const heading of document.querySelectorAll("article :is(h2, h3, h4)[id]")) {
    const name = heading.textContent.trim();
    heading.append(make("a", { class: "permalink", href: `#${heading.id}`, "aria-label": `Link to ${name}` }, "#"));
  }

  // ---- the list of the section: open beside the text, closed above it on a phone ----
  const list = document.querySelector(".list details");
  const wide = matchMedia("(min-width: 64rem)");
  if (list) {
    const fit = () => { list.open = wide.matches; };
    fit();
    wide.addEventListener("change", fit);
  }

  // ---- colours in code ----
  const RULES = {
    python: /(#[^\n]*)|("""[^]*?"""|[fr]?"(?:\\.|[^"\\\n])*"|[fr]?'(?:\\.|[^'\\\n])*')|\b(and|as|assert|def|class|elif|else|except|finally|for|from|if|import|in|is|lambda|None|not|or|pass|print|raise|return|True|False|try|while|with|yield)\b|(\b\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?\b)/g,
    toml: /(#[^\n]*)|("""[^]*?"""|"(?:\\.|[^"\\\n])*")|^(\s*\[+[^\]\n]+\]+|[\w.-]+(?=\s*=))|(\b\d[\d_]*(?:\.\d+)?(?:e[-+]?\d+)?\b|\btrue\b|\bfalse\b)/gm,
    console: /(#[^\n]*)|("(?:\\.|[^"\\\n])*")|^(\$ [\w.-]+)|(?!)()/gm,
  };
  RULES.sh = RULES.console;
  const KINDS = ["comment", "string", "keyword", "number"];
  const colour = (code) => {
    const rule = RULES[(code.className.match(/language-(\w+)/) || [])[1]];
    if (!rule || code.textContent.length > 20000) return;
    const text = code.textContent;
    const pieces = document.createDocumentFragment();
    let at = 0;
    for (const match of text.matchAll(rule)) {
      const kind = KINDS[match.slice(1).findIndex((part) => part !== undefined)];
      pieces.append(text.slice(at, match.index), make("span", { class: `code-${kind}` }, match[0]));
      at = match.index + match[0].length;
    }
    pieces.append(text.slice(at));
    code.replaceChildren(pieces);
  };
  const shown = new IntersectionObserver(
    (seen) => {
      for (const one of seen) {
        if (!one.isIntersecting) continue;
        shown.unobserve(one.target);
        colour(one.target);
      }
    },
    { rootMargin: "400px" },
  );
  document.querySelectorAll("pre code").forEach((code) => shown.observe(code));

  // ---- copying ----
  const said = make("p", { class: "hidden", role: "status" });
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { "aria-hidden": "true", class: "hidden" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  // commands are copied without the prompt, Python without the arrows of a session, neither with output
  const code_of = (text) => {
    const prompt = /^(\$ |>>> |\.\.\. )/;
    const lines = text.split("\n");
    if (!lines.some((line) => prompt.test(line))) return text;
    return lines.filter((line) => prompt.test(line)).map((line) => line.replace(prompt, "")).join("\n") + "\n";
  };
  document.querySelectorAll("article pre").forEach((block, place) => {
    const button = make("button", { class: "copy", type: "button", "aria-label": `Copy code block ${place + 1}` }, "Copy");
    button.addEventListener("click", async () => {
      await copied(code_of(block.querySelector("code").textContent));
      button.textContent = said.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 1500);
    });
    const frame = make("div", { class: "code" });
    block.replaceWith(frame);
    frame.append(block, button);
  });

  // ---- filters of a table ----
  for (const filter of document.querySelectorAll("[data-filter]")) {
    const rows = [...document.querySelectorAll(`#${filter.dataset.filter} tbody tr`)];
    const count = filter.querySelector("[role=status]");
    const fields = [...filter.querySelectorAll("select, input")];
    filter.hidden = false;
    const apply = () => {
      let shown = 0;
      for (const row of rows) {
        const fits = fields.every((field) => {
          const words = field.value.trim().toLowerCase();
          if (!words) return true;
          if (field.tagName === "SELECT") return row.dataset[field.name] === field.value;
          return words.split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
        });
        row.hidden = !fits;
        shown += fits;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    fields.forEach((field) => field.addEventListener("input", apply));
    apply();
  }

  // ---- search ----
  const box = document.querySelector(".search");
  if (box) {
    const input = box.querySelector("input");
    const list_of = box.querySelector("ol");
    const status = box.querySelector("[role=status]");
    const GREEK = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", kappa: "κ", lambda: "λ", mu: "μ", rho: "ρ", sigma: "σ", tau: "τ", chi: "χ", xi: "ξ", phi: "Φ" };
    const MOST = 12;
    let index;
    const folded = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, ""); // Rényi as renyi
    const split = (text) => folded(text).match(/\d+(?:\.\d+)*(?:e-?\d+)?|[^\W\d_][\w']*|[^\s\w!-/:-@[-`{-~]+\w*/gu) || [];
    const unpacked = (data) => {
      const sections = [];
      data.pages.forEach(([path, title], at) => {
        sections.push({ path, anchor: "", title, page: title });
        const own = data.sections[at];
        for (let i = 0; i < own.length; i += 2) sections.push({ path, anchor: own[i], title: own[i + 1], page: title });
      });
      for (const one of sections) {
        one.words = split(one.title).concat(split(one.title.replaceAll("_", " ")));
        one.around = one.anchor ? split(one.page) : [];
      }
      const words = [];
      let before = "";
      for (const line of data.words.split("\n")) {
        const space = line.indexOf(" ");
        before = before.slice(0, parseInt(line[0], 36)) + line.slice(1, space);
        words.push([before, line.slice(space + 1)]);
      }
      return { sections, words };
    };
    const numbers = (steps) => {
      const out = [];
      let last = -1;
      for (let i = 0; i < steps.length; ) {
        const size = steps[i] === "," ? 2 : steps[i] === ";" ? 4 : 1;
        if (size > 1) i += 1;
        last += parseInt(steps.slice(i, i + size), 36);
        out.push(last);
        i += size;
      }
      return out;
    };
    const loaded = new Promise((resolve) => {
      input.addEventListener("focus", () => {
        const script = make("script", { src: box.dataset.index });
        script.addEventListener("load", () => {
          index = unpacked(window.dpcoreIndex);
          resolve();
        });
        document.head.append(script);
      }, { once: true });
    });
    // how well one word of the question fits one word of a section: whole, as a beginning, or not at all
    const fit = (term, word) => (word === term ? 1 : term.length > 1 && word.startsWith(term) ? 0.6 : 0);
    const forms = (term) => {
      const all = [term];
      if (GREEK[term]) all.push(GREEK[term]);
      for (const [name, letter] of Object.entries(GREEK)) if (letter === term) all.push(name);
      if (term.length > 4 && term.endsWith("s")) all.push(term.slice(0, -1));
      return all;
    };
    const LITTLE = new Set("a an and are as at be by can do does for how i if in is it mean means my of on or the this to what when where which who why with you your".split(" "));
    const search = (text) => {
      const all = split(text);
      const terms = all.filter((word) => !LITTLE.has(word));
      const scores = new Map();
      for (const term of terms.length ? terms : all) {
        const own = new Map();
        const note = (at, value) => own.set(at, Math.max(own.get(at) || 0, value));
        for (const form of forms(term)) {
          index.sections.forEach((one, at) => {
            const title = Math.max(0, ...one.words.map((word) => fit(form, word)));
            const around = Math.max(0, ...one.around.map((word) => fit(form, word)));
            if (title) note(at, (one.anchor ? 8 : 10) * title);
            if (around) note(at, 3 * around);
          });
          for (const [word, steps] of index.words) {
            const value = fit(form, word);
            if (value) for (const at of numbers(steps)) note(at, 2 * value);
          }
        }
        for (const [at, value] of own) {
          const [sum, count] = scores.get(at) || [0, 0];
          scores.set(at, [sum + value, count + 1]);
        }
      }
      const need = (terms.length ? terms : all).length;
      const ranked = [...scores].map(([at, [sum, count]]) => {
        const one = index.sections[at];
        const whole = folded(one.title) === folded(text.trim()) ? 20 : 0;
        return { one, at, count, score: sum + whole - one.words.length / 20 };
      });
      const full = ranked.filter((hit) => hit.count === need);
      return (full.length ? full : ranked.filter((hit) => hit.count >= need - 1)).sort((a, b) => b.score - a.score || a.at - b.at);
    };
    const close = () => {
      list_of.hidden = true;
      input.setAttribute("aria-expanded", "false");
    };
    const show = async () => {
      const text = input.value;
      if (!text.trim()) {
        status.textContent = "";
        return close();
      }
      await loaded;
      if (text !== input.value) return undefined;
      const hits = search(text);
      list_of.replaceChildren(...hits.slice(0, MOST).map(({ one }) => {
        const item = make("li", {});
        const link = make("a", { href: box.dataset.root + one.path + (one.anchor ? `#${one.anchor}` : "") });
        link.append(make("span", { class: "hit" }, one.title));
        if (one.anchor) link.append(make("span", { class: "in" }, one.page));
        item.append(link);
        return item;
      }));
      if (!hits.length) list_of.append(make("li", { class: "none" }, "Nothing found. Try fewer or other words."));
      status.textContent = `${hits.length} results`;
      list_of.hidden = false;
      input.setAttribute("aria-expanded", "true");
      return undefined;
    };
    input.addEventListener("input", show);
    input.addEventListener("focus", show);
    box.addEventListener("keydown", (event) => {
      const links = [...list_of.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") {
        close();
        input.focus();
        close();
      } else if (event.key === "ArrowDown" && links.length) {
        event.preventDefault();
        links[Math.min(at + 1, links.length - 1)].focus();
      } else if (event.key === "ArrowUp" && at >= 0) {
        event.preventDefault();
        (at ? links[at - 1] : input).focus();
      } else if (event.key === "Enter" && document.activeElement === input && links.length) {
        links[0].click();
      }
    });
    document.addEventListener("click", (event) => { if (!box.contains(event.target)) close(); });
    list_of.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
        event.preventDefault();
        input.focus();
      }
    });
    box.classList.add("ready");
  }
  document.body.append(said);
})();
