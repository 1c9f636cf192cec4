// What makes the pages quicker to use. Each works without it.
"use strict";

const field = document.getElementById("search");
const results = document.getElementById("results");
const main = document.getElementById("main");

// --- keys

const stops = () => [...document.querySelectorAll(".list .title, .turn > h2 > a")];

function step(by) {
  const all = stops();
  const inSight = (each) => each.getBoundingClientRect().bottom > 60 && each.getBoundingClientRect().top < innerHeight;
  const target = document.querySelector(".turn:target");
  const here = document.activeElement.closest(".list li, .turn") ?? (target && inSight(target) ? target : null);
  const at = all.findIndex((each) => here?.contains(each));
  // Where nothing is chosen yet, begin with what is in sight.
  const next = at < 0 ? Math.max(all.findIndex(inSight), 0) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next]?.focus({ preventScroll: true });
  all[next]?.closest("li, .turn").scrollIntoView({ block: all[next].closest("li") ? "nearest" : "start" });
}

const keys = {
  "/": () => { field.focus(); field.select(); },
  j: () => step(1),
  k: () => step(-1),
  u: () => { location.href = "/"; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target === field) {
    if (event.key === "ArrowDown" && stops().length) {
      event.preventDefault();
      stops()[0].focus();
    } else if (event.key === "Escape" && !field.value) {
      field.blur();
    }
    return;
  }
  const act = keys[event.key];
  if (!act || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  act();
});

// A link to a place that is inside a fold opens it.
addEventListener("hashchange", () => document.querySelector(":target")?.closest("details")?.setAttribute("open", ""));

// --- searching while one types

if (results) {
  const said = document.getElementById("said");
  let asked;
  let timer;

  const look = async () => {
    asked?.abort();
    asked = new AbortController();
    const query = field.value.trim();
    const address = query ? "?q=" + encodeURIComponent(query) : "";
    try {
      const answer = await fetch("/search" + address, { signal: asked.signal });
      if (!answer.ok) return;
      const html = await answer.text();
      results.innerHTML = html;
      said.textContent = results.querySelector(".status")?.textContent ?? "";
      history.replaceState(null, "", "/" + address);
      document.title = (query ? query + " · Search" : "Conversations") + " · JP";
      readOn();
    } catch {
      // Another key came, or the server is gone: what is there stays.
    }
  };

  // Where not all could be looked through in time, the rest follows.
  const readOn = () => {
    clearTimeout(timer);
    if (results.querySelector("[data-unread]")) timer = setTimeout(look, 100);
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 150);
  });
  readOn();
}

// --- a conversation, as it goes on

if (main.dataset.live) {
  const turns = document.getElementById("turns");
  const running = document.getElementById("running");
  const said = document.getElementById("news");
  const notice = document.getElementById("notice");
  const jump = document.getElementById("jump");
  const soon = 700;
  const later = 2500;
  let cursor = main.dataset.cursor;
  let timer;

  const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 160;
  const toEnd = () => scrollTo(0, document.documentElement.scrollHeight);
  const show = (element, on) => { element.hidden = !on; };

  const parsed = (html) => {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.content.firstElementChild;
  };

  const put = ({ turn, whole, html }) => {
    const fresh = parsed(html);
    const old = document.getElementById(fresh.id);
    if (old) {
      if (old.open) fresh.open = true;
      old.replaceWith(fresh);
      return "";
    }
    fresh.classList.add("new");
    (whole ? turns : document.getElementById("turn-" + turn) ?? turns).append(fresh);
    return fresh.innerText ?? "";
  };

  const take = (news) => {
    const follow = atEnd();
    const words = news.parts.map(put).join(" ").replace(/\s+/g, " ").trim();
    cursor = news.cursor;
    show(running, news.running);
    if (!news.parts.length) return;
    // What only grew is not read out again.
    if (words) said.textContent = "New: " + words.slice(0, 160);
    if (follow) toEnd();
    else show(jump, true);
  };

  const fail = (text) => {
    notice.textContent = text;
    show(notice, true);
    show(running, false);
  };

  const ask = async () => {
    let wait = later;
    try {
      const answer = await fetch(main.dataset.live + "?after=" + encodeURIComponent(cursor));
      if (answer.status === 403) return fail("This server does not know this window any more. Open its address again.");
      if (answer.status === 404) return fail("This conversation is not there any more.");
      if (answer.status === 200) {
        const news = await answer.json();
        if (news.reload) return location.reload();
        take(news);
      }
      show(notice, false);
      wait = running.hidden ? later : soon;
    } catch {
      fail("The server has ended. What is here stays; `jp serve web` starts it again.");
    }
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, wait);
  };

  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  addEventListener("scroll", () => { if (atEnd()) show(jump, false); }, { passive: true });
  jump.addEventListener("click", toEnd);
  timer = setTimeout(ask, running.hidden ? later : soon);
}
