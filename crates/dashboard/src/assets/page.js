// The key "/" goes to the search box, unless one is typing.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("find");
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing || !box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// The first page of a session is in UTC: the cookie makes the server write the next ones in the browser's zone.
const zone = document.getElementById("zone");
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && "default" in zone.dataset && own && own !== "UTC") {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `scrip_time_zone=${own}; Path=/dashboard; SameSite=Lax${secure}`;
  zone.textContent = own;
  for (const time of document.querySelectorAll("time")) {
    time.textContent = new Date(time.dateTime).toLocaleString("sv-SE", { timeZone: own });
  }
}

// The clipboard is there on https and on this machine.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "Copied";
  });
}

// Narrow screens keep filters folded, and scroll the navigation to the current page.
if (matchMedia("(min-width: 40rem)").matches) document.querySelectorAll(".filters").forEach((it) => (it.open = true));
for (const current of document.querySelectorAll("nav [aria-current=page]")) {
  const { parentElement: nav } = current;
  nav.scrollLeft = current.offsetLeft - nav.offsetLeft - (nav.clientWidth - current.offsetWidth) / 2;
}
