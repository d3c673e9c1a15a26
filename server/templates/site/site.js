// The key of this tab in the samples, the search of the operations, and the live call of the front page.
"use strict";

const KEY_NAME = "quant-server-key";
const SAMPLE_KEY = "YOUR_KEY";
const SAMPLE_ORIGIN = /https?:\/\/127\.0\.0\.1:8080/g;

const samples = [...document.querySelectorAll(".samples code")].map((element) => ({ element, text: element.textContent }));

/** The key of this browser tab; empty without one. */
function currentKey() {
  return sessionStorage.getItem(KEY_NAME) || "";
}

function fillSamples() {
  for (const { element, text } of samples) {
    const addressed = text.replace(SAMPLE_ORIGIN, location.origin);
    element.textContent = currentKey() ? addressed.replaceAll(SAMPLE_KEY, currentKey()) : addressed;
  }
}

function setKey(key) {
  if (key.trim()) sessionStorage.setItem(KEY_NAME, key.trim());
  else sessionStorage.removeItem(KEY_NAME);
  for (const field of document.querySelectorAll("#api-key")) field.value = key.trim();
  fillSamples();
}

/** A name of this browser that tells nothing, so that it gets one guest's key a day. */
function deviceId() {
  const name = "quant-server-device";
  if (!localStorage.getItem(name)) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    localStorage.setItem(name, [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return localStorage.getItem(name);
}

/** Makes a guest's key and keeps it for this tab. */
async function makeGuestKey() {
  const answer = await fetch("/guest/create", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ device_id: deviceId(), platform: "browser" }),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(typeof body.detail === "string" ? body.detail : body.message || `status ${answer.status}`);
  const key = (body.data || body).api_key;
  setKey(key);
  return key;
}

for (const box of document.querySelectorAll(".key-field")) {
  box.hidden = false;
  const field = box.querySelector("input");
  field.value = currentKey();
  field.addEventListener("input", () => setKey(field.value));
}
fillSamples();

const search = document.querySelector("#search");
if (search) {
  search.parentElement.hidden = false;
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of document.querySelectorAll(".side section")) {
      let isShown = false;
      for (const item of section.querySelectorAll("li")) {
        const link = item.firstElementChild;
        const text = `${link.textContent} ${link.dataset.words}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
        isShown ||= !item.hidden;
      }
      section.hidden = !isShown;
    }
  });
}

// On a narrow screen the list of operations would push the page out of sight.
const menu = document.querySelector(".menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;
const current = document.querySelector(".side [aria-current]");
if (current && menu.open) current.scrollIntoView({ block: "center" });

const live = document.querySelector("#live");
if (live) {
  live.disabled = false;
  live.addEventListener("click", async () => {
    const output = document.querySelector("#live-answer");
    output.hidden = false;
    output.textContent = "…";
    try {
      const key = await makeGuestKey();
      const answer = await fetch("/quantlib/core/types/tenor/add-to-date", {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": key },
        body: JSON.stringify({ start_date: new Date().toISOString().slice(0, 10), tenor: "3M" }),
      });
      output.textContent = JSON.stringify(await answer.json(), null, 2);
    } catch (error) {
      output.textContent = error.message;
    }
  });
}
