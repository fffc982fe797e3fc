//! Messages and receives in the orders in which they may come.

use super::*;

fn key(from: u32, tag: u32) -> Pattern {
    Pattern { context: 0, from, tag }
}

fn arrive(matching: &mut Matching, key: Pattern, sequence: u32, whole: bool) -> Vec<Event> {
    let mut events = Vec::new();
    let envelope = Envelope { key, sequence, request: false };
    matching.envelope(envelope, whole, |event| events.push(event));
    events
}

/// The second message is whole first; the first receive gets the first one all the same.
#[test]
fn messages_of_one_sender_do_not_overtake() {
    let mut matching = Matching::default();
    assert_eq!(matching.post(key(3, ANY), Waiter::Node(1)), None);
    assert_eq!(matching.post(key(3, 7), Waiter::Node(2)), None);
    assert_eq!(arrive(&mut matching, key(3, 7), 1, true), []);
    assert_eq!(arrive(&mut matching, key(3, 7), 0, false), [Event::Received(Waiter::Node(2))]);
    assert_eq!(matching.whole(key(3, 7), 0), Some(Event::Received(Waiter::Node(1))));
    assert_eq!(matching.left(), 0);
}

#[test]
fn receives_match_in_the_order_in_which_they_were_posted() {
    let mut matching = Matching::default();
    for (node, pattern) in [(1, key(ANY, 7)), (2, key(3, 7)), (3, key(ANY, ANY))] {
        assert_eq!(matching.post(pattern, Waiter::Node(node)), None);
    }
    assert_eq!(arrive(&mut matching, key(3, 8), 0, true), [Event::Received(Waiter::Node(3))]);
    assert_eq!(arrive(&mut matching, key(3, 7), 1, true), [Event::Received(Waiter::Node(1))]);
    assert_eq!(arrive(&mut matching, key(3, 7), 2, true), [Event::Received(Waiter::Node(2))]);
}

#[test]
fn wildcards_take_what_came_first() {
    let mut matching = Matching::default();
    for (from, tag, sequence) in [(5, 1, 0), (2, 9, 0), (5, 0, 1)] {
        assert_eq!(arrive(&mut matching, key(from, tag), sequence, true), []);
    }
    let other = Pattern { context: 1, ..key(ANY, ANY) };
    assert_eq!(matching.post(other, Waiter::Node(0)), None, "of another communicator");
    let got = Some(Event::Received(Waiter::Node(1)));
    assert_eq!(matching.post(key(ANY, 9), Waiter::Node(1)), got);
    assert_eq!(matching.post(key(ANY, ANY), Waiter::Node(1)), got);
    assert_eq!(matching.left(), 1);
    assert_eq!(matching.post(key(5, 0), Waiter::Node(1)), got, "the first with tag 1 is gone");
}

/// What nobody waits for is not looked at until somebody may ask for it, and then in the order in which it came.
#[test]
fn messages_that_nobody_waits_for_keep_their_order() {
    let mut matching = Matching::default();
    assert_eq!(matching.post(key(9, 0), Waiter::Node(9)), None);
    for (from, tag, sequence) in [(5, 1, 1), (2, 1, 0), (5, 1, 0), (7, 3, 0)] {
        assert_eq!(arrive(&mut matching, key(from, tag), sequence, true), []);
    }
    assert_eq!((matching.unseen.len(), matching.left()), (4, 4));
    let got = |node| Some(Event::Received(Waiter::Node(node)));
    assert_eq!(matching.post(key(7, 3), Waiter::Node(1)), got(1));
    assert_eq!(arrive(&mut matching, key(9, 0), 0, true), [Event::Received(Waiter::Node(9))]);
    assert_eq!(matching.unseen.len(), 3, "it was waited for");
    assert_eq!(matching.post(key(5, 1), Waiter::Node(2)), got(2), "its sender sent two");
    assert_eq!(matching.post(key(ANY, 1), Waiter::Node(3)), got(3));
    assert_eq!(arrive(&mut matching, key(2, 1), 1, true), []);
    assert_eq!((matching.unseen.len(), matching.left()), (1, 2));
    let next = arrive(&mut matching, key(2, 1), 3, true);
    assert_eq!((next, matching.post(key(2, 1), Waiter::Node(4))), (vec![], got(4)));
    assert_eq!(matching.post(key(2, 1), Waiter::Node(5)), None, "the third has not come");
    assert_eq!(arrive(&mut matching, key(2, 1), 2, true), [Event::Received(Waiter::Node(5))]);
    assert_eq!((matching.left(), matching.early.len()), (2, 0));
}

#[test]
fn messages_that_nobody_looks_at_take_what_is_said() {
    for messages in 0..100 {
        let mut matching = Matching::default();
        for sequence in 0..messages {
            arrive(&mut matching, key(1, 0), sequence, true);
        }
        let bytes = matching.unseen.capacity() * size_of::<Envelope>();
        assert!(bytes as u64 <= Matching::unseen_bytes(1, messages.into()), "{messages}");
    }
    assert_eq!(Matching::unseen_bytes(3, 1 << 40), 3 * 32 * 20);
}

#[test]
fn a_request_is_answered_when_its_receive_is_posted() {
    let mut matching = Matching::default();
    let request = Envelope { key: key(4, 1), sequence: 0, request: true };
    matching.envelope(request, true, |event| panic!("{event:?}"));
    let ready = Some(Event::Ready { to: 4, sequence: 0 });
    assert_eq!(matching.post(key(4, ANY), Waiter::Node(8)), ready);
    assert_eq!(matching.whole(key(4, 1), 0), Some(Event::Received(Waiter::Node(8))));
}
