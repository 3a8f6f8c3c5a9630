-- Appends a message to a list of messages, unless the list has one of its id.
--
-- KEYS  1 the list: for each message its id, then its entry  2 for a chat: archived matches of its shard
-- ARGV  1 id (16 bytes)  2 time in ms, or '' for TIME  3 the entry without its time
--       4 most messages kept  5 seconds a message is kept, 0 for as long as the list is
--       for a chat: 6 bit of its match in KEYS 2  7 seconds that the chat of an archived match is kept
-- Returns  the message's time in ms; for a known id, the time of the message in the list
--
-- An entry is the time in decimal, ':' and ARGV 3. The times of a list grow, even where the clock
-- does not, and no two are equal: a reader who knows one time knows which messages are newer.

local list = KEYS[1]
local function time_of(entry)
  return tonumber(string.match(entry, '^%d+'))
end

local place = redis.call('LPOS', list, ARGV[1])
if place then
  return time_of(redis.call('LINDEX', list, place + 1))
end
local now = tonumber(time_ms(ARGV[2]))
local at = now
local last = redis.call('LINDEX', list, -1)
if last and time_of(last) >= at then
  at = time_of(last) + 1
end
redis.call('RPUSH', list, ARGV[1], string.format('%.0f', at) .. ':' .. ARGV[3])
redis.call('LTRIM', list, -2 * tonumber(ARGV[4]), -1)
local seconds = tonumber(ARGV[5])
if seconds > 0 then
  -- the new message is never too old, so this ends
  while time_of(redis.call('LINDEX', list, 1)) <= now - seconds * 1000 do
    redis.call('LTRIM', list, 2, -1)
  end
  redis.call('EXPIRE', list, seconds)
end
if KEYS[2] and redis.call('GETBIT', KEYS[2], ARGV[6]) == 1 then
  redis.call('EXPIRE', list, ARGV[7])
end
return at
