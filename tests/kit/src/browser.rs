//! A browser without scripts: it keeps the cookie, follows redirects by hand, and sends the fields that a
//! page's forms have.

use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};

use crate::client::unled_http;
#[cfg(feature = "service")]
use crate::service::{ADMIN_TOKEN, Service};

/// One browser, signed in or not.
pub struct Browser {
    http: reqwest::Client,
    /// The address of the service.
    pub base: String,
    /// The session's cookie, if there is one.
    pub cookie: Option<String>,
    /// The cookie of a browser that was signed in before, which is not sent.
    pub known: Option<String>,
}

/// An answer to a browser.
pub struct Page {
    /// The status code.
    pub status: u16,
    /// All headers of the response.
    pub headers: HeaderMap,
    /// The body as text.
    pub html: String,
}

impl Page {
    /// Where it leads.
    pub fn location(&self) -> &str {
        let location = self.headers.get(LOCATION).expect("a redirect");
        location.to_str().unwrap()
    }

    /// Asserts that it has this text.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "no {text:?} in {}", self.html);
        self
    }

    /// Asserts that it does not have this text.
    #[track_caller]
    pub fn lacks(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{text:?} in {}", self.html);
        self
    }

    /// The value of an input of this name.
    pub fn value(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.html.split_once(&format!("name=\"{name}\" "))?;
        let (tag, _) = rest.split_once('>')?;
        let (_, value) = tag.split_once("value=\"")?;
        value.split_once('"').map(|(value, _)| value)
    }

    /// The text between two texts.
    pub fn between(&self, before: &str, after: &str) -> &str {
        let (_, rest) = self.html.split_once(before).expect(before);
        rest.split_once(after).expect(after).0
    }
}

impl Browser {
    /// A browser that is not signed in.
    pub fn new(base: &str) -> Self {
        Self {
            http: unled_http(),
            base: base.to_owned(),
            cookie: None,
            known: None,
        }
    }

    /// A browser that has signed in by the token.
    #[cfg(feature = "service")]
    pub async fn signed_in(service: &Service) -> Self {
        let mut browser = Self::new(&service.base);
        let page = browser.sign_in(&[("token", ADMIN_TOKEN)]).await;
        assert_eq!((page.status, page.location()), (303, "/dashboard"));
        browser
    }

    /// Sends a form that signs in, and keeps the cookies of the answer.
    pub async fn sign_in(&mut self, form: &[(&str, &str)]) -> Page {
        let page = self.post_as_it_is("/dashboard/sign-in", form, &[]).await;
        self.take_cookie(&page);
        let cookies = page.headers.get_all(SET_COOKIE).iter();
        let mut cookies = cookies.map(|cookie| cookie.to_str().unwrap());
        if let Some(known) = cookies.find(|it| it.starts_with("scrip_browser=")) {
            self.known = known.split(';').next().map(ToOwned::to_owned);
        }
        page
    }

    /// Keeps the cookie of a page that signed in.
    pub fn take_cookie(&mut self, page: &Page) {
        if let Some(cookie) = page.headers.get(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            self.cookie = cookie.split(';').next().map(ToOwned::to_owned);
        }
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Page {
        self.send(self.http.get(self.url(path)), &[]).await
    }

    /// Sends a form like a page of the dashboard, with its token and origin.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Page {
        self.try_post(path, form).await.unwrap()
    }

    /// As [`Browser::post`]; an error where no answer comes.
    pub async fn try_post(&self, path: &str, form: &[(&str, &str)]) -> reqwest::Result<Page> {
        let token = self.token().await;
        let mut form = form.to_vec();
        form.push(("formToken", &token));
        let request = self.form(path, &form);
        self.try_send(request, &[("origin", &self.base)]).await
    }

    /// Sends a form, and follows the redirect.
    pub async fn submit(&self, path: &str, form: &[(&str, &str)]) -> Page {
        let page = self.post(path, form).await;
        assert_eq!(page.status, 303, "{}", page.html);
        self.get(page.location()).await
    }

    /// Sends a form that asks first, says yes, and follows the redirect.
    pub async fn confirm(&self, path: &str, form: &[(&str, &str)]) -> Page {
        let page = self.post(path, form).await;
        assert_eq!(page.status, 200, "{}", page.html);
        page.shows("<title>Please confirm");
        let sure = [form, &[("confirmed", "on")]].concat();
        self.submit(path, &sure).await
    }

    /// Searches a project, whose pages begin with `base`; the answer is the last one before another page is opened.
    pub async fn search(&self, base: &str, query: &str) -> Page {
        let page = self
            .post(&format!("{base}/search"), &[("query", query)])
            .await;
        match page.status {
            303 if page.location().contains("/search?") => self.get(page.location()).await,
            _ => page,
        }
    }

    /// The token in this session's forms.
    pub async fn token(&self) -> String {
        let page = self.get("/dashboard").await;
        page.value("formToken")
            .expect("a signed-in page")
            .to_owned()
    }

    /// Sends a form with these fields and headers alone.
    pub async fn post_as_it_is(
        &self,
        path: &str,
        form: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Page {
        self.send(self.form(path, form), headers).await
    }

    fn form(&self, path: &str, form: &[(&str, &str)]) -> reqwest::RequestBuilder {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self.http.post(self.url(path)).body(body);
        request.header("content-type", "application/x-www-form-urlencoded")
    }

    /// Sends a request with the cookie.
    pub async fn send(&self, request: reqwest::RequestBuilder, headers: &[(&str, &str)]) -> Page {
        self.try_send(request, headers).await.unwrap()
    }

    async fn try_send(
        &self,
        mut request: reqwest::RequestBuilder,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Page> {
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await?;
        Ok(Page {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            html: response.text().await?,
        })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}
