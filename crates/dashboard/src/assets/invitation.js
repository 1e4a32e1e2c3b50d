// An invitation's secret is in the address' fragment, which is sent to no server.
const secret = document.querySelector("#secret");
if (secret && location.hash.length > 1) {
  secret.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}
