// The key "/" goes to the search box, unless one is typing.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("find");
  const typing = event.target.closest("input, select, textarea, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing || !box) return;
  event.preventDefault();
  box.focus();
  box.select();
});
